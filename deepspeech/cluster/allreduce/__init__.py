"""Training without parameter servers: every worker holds the weights, and the workers add up their gradients."""
