"""Measurements of serving."""
