#!/usr/bin/env python3
"""Make CSVs of the recordings in a folder: `python -m deepspeech.import_corpus`, for those who look here."""

import sys

from deepspeech.cli.importing.corpus import main

if __name__ == "__main__":
    sys.exit(main())
