"""Forced alignment: when each word and character of a given transcript is said."""
