"""The command that shows, writes, reads and compares weights."""
