"""Exports of checkpoints as models that can be served."""
