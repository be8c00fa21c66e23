"""What each node reports: whether it is alive and ready, its time use, and traces of steps."""
