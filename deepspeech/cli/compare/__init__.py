"""The commands that compare two runs: their parameters, or the reports of their tests."""
