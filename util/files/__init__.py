"""Files: written whole or not at all, Python files that a user names, and the data that come with the program."""
