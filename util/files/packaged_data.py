"""The path of the repository's folder `data`, in a checkout and in an installed package."""

from pathlib import Path

DATA = Path(__file__).parents[2] / "data"
"""Holds `demo/grammar.txt` and the language models `lm/*.arpa`."""
