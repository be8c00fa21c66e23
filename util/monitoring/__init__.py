"""Reports of a process on itself: its use of time, its network traffic, and its log."""
