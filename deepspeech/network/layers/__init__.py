"""The computation of each layer in training: by native kernels, TensorFlow's operations, or cuDNN."""
