"""Training without parameter servers: every worker holds the weights, and the workers sum their gradients."""
