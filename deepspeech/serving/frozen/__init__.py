"""Exported graphs as files: nodes, constants and metadata, read without TensorFlow."""
