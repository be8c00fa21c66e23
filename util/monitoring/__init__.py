"""What a process tells of itself: how it spends its time, its traffic, and its log."""
