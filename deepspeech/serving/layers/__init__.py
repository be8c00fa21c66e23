"""The layers of networks in the engine, in NumPy and C++."""
