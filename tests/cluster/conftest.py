"""Lets the tests in the folders below import `nodes`, too."""
