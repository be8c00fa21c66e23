"""A checkpoint becomes a model that can be served."""
