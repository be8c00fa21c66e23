"""Checks of corpora beyond single rows: remembered checks, faults of many transcripts, and overlaps of sets."""
