"""What each node tells of itself: whether it lives and is ready, what its time goes into, and traces of steps."""
