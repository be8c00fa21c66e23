"""`python -m deepspeech`: train, test, export and transcribe a file."""

import sys

from .commands import train

if __name__ == "__main__":
    sys.exit(train())
