"""Networks and front ends as graphs of ONNX operators, all of opset 11 (2019)."""
