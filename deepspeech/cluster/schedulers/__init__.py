"""Places in a cluster from what schedulers say in the environment: one module for each scheduler."""
