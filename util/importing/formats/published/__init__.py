"""Formats of single corpora, or of a family of them, that no list or folder of texts describes."""
