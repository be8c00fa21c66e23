"""Weights without a run: read from any file of a model, written as HDF5, shown, compared and used as initial values."""
