"""Experiments by name, with everything that decides their results; each corpus has a module."""
