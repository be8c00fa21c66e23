"""Training on a cluster: parameter servers hold the variables, workers compute gradients, the first worker leads."""
