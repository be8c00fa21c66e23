"""The utterances of each batch, and the order of the batches in an epoch."""
