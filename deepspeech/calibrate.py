"""`python -m deepspeech.calibrate --model M --dev_files D`: turn confidences of a model's words into probabilities."""

import sys

from .commands import calibrate

if __name__ == "__main__":
    sys.exit(calibrate())
