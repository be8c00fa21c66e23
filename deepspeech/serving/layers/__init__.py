"""The layers of networks as the engine computes them, in NumPy and C++."""
