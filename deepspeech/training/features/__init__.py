"""Measurements of the features of the training set."""
