"""Models for LiteRT (TensorFlow Lite) in the layout of the clients of Coqui STT 1 and DeepSpeech 0.9."""
