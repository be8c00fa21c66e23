"""`python -m deepspeech.write_shards train.csv --to shards/train`: write a corpus into tar shards."""

import sys

from .commands import write_shards

if __name__ == "__main__":
    sys.exit(write_shards())
