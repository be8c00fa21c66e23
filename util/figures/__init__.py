"""Figures of transcripts: errors of words and characters, their sums over a corpus, and reports."""
