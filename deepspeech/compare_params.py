"""`python -m deepspeech.compare_params A B`: what differs between the parameters of two runs."""

import sys

from .commands import compare_params

if __name__ == "__main__":
    sys.exit(compare_params())
