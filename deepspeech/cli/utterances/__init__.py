"""Continuous audio: its utterances are printed while they are spoken."""
