"""How sure the recognizer is of a word."""
