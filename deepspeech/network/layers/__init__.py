"""How each layer is computed in training: by native kernels, TensorFlow's operations, or cuDNN."""
