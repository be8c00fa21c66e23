"""Commands that import corpora."""
