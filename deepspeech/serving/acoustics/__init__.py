"""Acoustic models by what their files are: graphs, run by this program's engine, and ONNX, run by onnxruntime."""
