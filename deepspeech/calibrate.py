"""`python -m deepspeech.calibrate --model M --dev_files D`: make the confidences of a model's words probabilities."""

import sys

from .commands import calibrate

if __name__ == "__main__":
    sys.exit(calibrate())
