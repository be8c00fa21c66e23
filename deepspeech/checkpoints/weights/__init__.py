"""Weights by themselves: read from any file that holds a model, written as HDF5, shown, compared and begun with."""
