"""Experiments by name: everything that decides a result, checked into version control, a module for each corpus."""
