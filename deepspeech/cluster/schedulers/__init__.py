"""Reads a process's place in a cluster from a scheduler's environment variables: one module for each scheduler."""
