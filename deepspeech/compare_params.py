"""`python -m deepspeech.compare_params A B`: what differs between the parameters of two runs."""

import sys

from .cli.compare_params import main

if __name__ == "__main__":
    sys.exit(main())
