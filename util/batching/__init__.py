"""Which utterances make a batch, and in which order the batches of an epoch come."""
