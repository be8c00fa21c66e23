"""Shared parts of the measurements: the processes that they start, and modules that these need."""
