"""Commands and their flags."""
