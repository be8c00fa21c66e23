"""Experiments by name, the parameters that decide their results, and what differs between two of them."""
