"""From gradients to a step: accumulation over batches, clipping, Adam, weight decay and the average of the weights."""
