"""Experiments of corpora in Mandarin."""
