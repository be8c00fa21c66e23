"""`python -m deepspeech.import_corpus FORMAT --from FOLDER --to FOLDER`: make CSVs of the recordings in a folder."""

import sys

from .commands import import_corpus

if __name__ == "__main__":
    sys.exit(import_corpus())
