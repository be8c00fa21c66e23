"""`python -m deepspeech.compare_reports A B`: what became better and worse from one test to another."""

import sys

from .commands import compare_reports

if __name__ == "__main__":
    sys.exit(compare_reports())
