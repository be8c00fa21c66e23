"""Checks of corpora beyond that of a single row: what was checked before, what transcripts and sets have in common."""
