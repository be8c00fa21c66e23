"""Measurements of error rates."""
