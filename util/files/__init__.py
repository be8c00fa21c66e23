"""Files: atomic writing, a user's Python files, and the data files of the package."""
