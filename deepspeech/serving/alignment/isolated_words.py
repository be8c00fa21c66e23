"""Words of an aligned recording as utterances of their own, to learn isolated words from."""

from __future__ import annotations

from collections.abc import Iterator

from ...util.parts import Part
from .transcript import AlignedWord, Alignment

BEFORE_SECONDS = 0.12
"""What is kept before the frame in which CTC emits a word's first label, which may be late in its sound."""
AFTER_SECONDS = 0.15
"""What is kept after the frame of its last label."""


def parts_of_words(alignment: Alignment) -> Iterator[tuple[AlignedWord, Part]]:
    """Yield each word and the part of the recording that it is, which reaches half way to its neighbours at most."""
    words = alignment.words
    ends = [0.0, *(word.end for word in words)]
    starts = [*(word.start for word in words), alignment.duration]
    for place, word in enumerate(words):
        first = (ends[place] + word.start) / 2 if place else 0.0
        last = (word.end + starts[place + 1]) / 2 if place < len(words) - 1 else alignment.duration
        yield word, Part(max(word.start - BEFORE_SECONDS, first), min(word.end + AFTER_SECONDS, last))
