"""`python -m deepspeech.evaluate`: the test report of an exported graph, from the graph alone."""

import sys

from .cli.evaluate import main

if __name__ == "__main__":
    sys.exit(main())
