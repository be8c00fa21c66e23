"""Words of an aligned recording as single utterances, for training on isolated words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ...util.parts import Part
from ...util.transcripts import has_unspaced
from ..transcripts import LONGEST_GAP_SECONDS
from .transcript import AlignedWord, Alignment

BEFORE_SECONDS = 0.12
"""Audio that is kept before the frame of a word's first label, which CTC may emit late in the label's sound."""
AFTER_SECONDS = 0.15
"""Audio that is kept after the frame of its last label."""


def parts_of_words(alignment: Alignment) -> Iterator[tuple[AlignedWord, Part]]:
    """Yield each word and its part of the recording, which reaches at most half way to the neighbouring words."""
    words = alignment.words
    ends = [0.0, *(word.end for word in words)]
    starts = [*(word.start for word in words), alignment.duration]
    for place, word in enumerate(words):
        first = (ends[place] + word.start) / 2 if place else 0.0
        last = (word.end + starts[place + 1]) / 2 if place < len(words) - 1 else alignment.duration
        yield word, Part(max(word.start - BEFORE_SECONDS, first), min(word.end + AFTER_SECONDS, last))


def is_in_one_place(word: AlignedWord) -> bool:
    """Return whether the characters of a word follow each other closely; otherwise its part has other words, too.

    Texts without spaces have pauses between words, so they count as being in one place.
    """
    gaps = (after.start - before.end for before, after in pairwise(word.characters))
    return max(gaps, default=0) <= LONGEST_GAP_SECONDS or has_unspaced(word.text)
