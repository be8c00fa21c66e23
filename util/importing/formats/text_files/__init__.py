"""Formats with a file of text for each recording."""
