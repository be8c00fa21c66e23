"""Measurements behind the figures of the README and docs/: each runs as `python -m benchmarks.NAME` from the root."""
