"""Forced alignment: the time of each word and character of a transcript.

    from deepspeech import Model
    from deepspeech.align import align

    for word in align(Model("output_graph.pb"), "speech.wav", "what is said in it").words:
        print(word.start, word.end, word.text)

`python -m deepspeech.align --model M --audio A --transcript T` does it for files.
"""

import sys

from . import commands

if __name__ == "__main__":
    sys.exit(commands.align())

from .serving.alignment.transcript import AlignedCharacter, AlignedWord, Alignment, align

__all__ = ["AlignedCharacter", "AlignedWord", "Alignment", "align"]
