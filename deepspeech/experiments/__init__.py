"""Experiments by name, with everything that decides their results; one module for each corpus."""
