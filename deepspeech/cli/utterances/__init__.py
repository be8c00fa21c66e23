"""Audio that goes on: its utterances are printed while they are spoken."""
