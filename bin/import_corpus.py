#!/usr/bin/env python3
"""Make CSVs of the recordings in a folder: `python -m deepspeech.import_corpus`, for those who look here."""

import sys

from deepspeech.commands import import_corpus

if __name__ == "__main__":
    sys.exit(import_corpus())
