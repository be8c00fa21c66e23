"""The schedule of training: jobs, state and early stopping, without I/O and without TensorFlow."""
