"""Checkpoints and weights: what a training run saves, and what a run can start from."""
