"""The front ends: how features are computed, a module each."""
