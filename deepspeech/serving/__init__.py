"""Speech to text with exported graphs, without TensorFlow: the Python interface, the command and the engine."""
