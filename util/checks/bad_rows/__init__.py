"""Rows of a corpus whose transcript may not be what is said: ranking them, listing them, leaving them out."""
