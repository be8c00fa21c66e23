"""Who does which batches of which epoch: the state machine of training, free of I/O and of TensorFlow."""
