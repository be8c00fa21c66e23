"""Transcripts in JSON, as recognizers write them."""
