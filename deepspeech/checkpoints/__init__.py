"""What is kept of a training run, and what one can begin from."""
