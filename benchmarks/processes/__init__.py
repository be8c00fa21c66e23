"""What the measurements share: the processes that they start, and what those need."""
