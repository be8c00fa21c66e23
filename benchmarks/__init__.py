"""The measurements behind the figures in README and docs/; run each from the root as `python -m benchmarks.NAME`."""
