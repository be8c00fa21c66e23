"""`python -m deepspeech`: train, test, export and transcribe a file."""

import sys

from .cli.train import main

if __name__ == "__main__":
    sys.exit(main())
