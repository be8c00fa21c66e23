"""Acoustic models by file format: graphs, run by this program's engine, ONNX, run by onnxruntime, and LiteRT."""
