"""Checks of what the functions of layers return, above all those of a user's own layers."""
