"""Checks of flags in combination."""
