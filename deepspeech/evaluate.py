"""`python -m deepspeech.evaluate`: the test report of an exported graph, from the graph alone."""

import sys

from .commands import evaluate

if __name__ == "__main__":
    sys.exit(evaluate())
