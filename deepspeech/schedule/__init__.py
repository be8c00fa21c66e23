"""Who does which batches of which epoch: jobs, state and early stopping, free of I/O and of TensorFlow."""
