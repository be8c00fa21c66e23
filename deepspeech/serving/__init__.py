"""Speech to text with exported graphs, without TensorFlow: the Python interface, the engine, and their common parts."""
