#!/usr/bin/env python3
"""Make CSVs of the recordings in a folder: the same program as `python -m deepspeech.import_corpus`."""

import sys

from deepspeech.commands import import_corpus

if __name__ == "__main__":
    sys.exit(import_corpus())
