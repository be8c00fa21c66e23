"""Rows of a corpus whose transcript may be wrong: ranking them, listing them, leaving them out."""
