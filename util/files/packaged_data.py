"""Where the files of the repository's folder `data` are, in a checkout and where the package is installed."""

from pathlib import Path

DATA = Path(__file__).parents[2] / "data"
"""Holds `demo/grammar.txt` and the language models `lm/*.arpa`."""
