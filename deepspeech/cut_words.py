"""`python -m deepspeech.cut_words MODEL LIST`: list the words of sentences as utterances of their own."""

import sys

from .commands import cut_words

if __name__ == "__main__":
    sys.exit(cut_words())
