"""Networks and front ends as graphs of ONNX operators, of opset 11 (2019) throughout."""
