"""The export of checkpoints as models for serving."""
