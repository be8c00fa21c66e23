"""Files of exported graphs: their nodes, constants and metadata, read without TensorFlow."""
