"""`python -m deepspeech.import_corpus FORMAT --from FOLDER --to FOLDER`: make CSVs of the recordings in a folder."""

import sys

from .cli.importing.corpus import main

if __name__ == "__main__":
    sys.exit(main())
