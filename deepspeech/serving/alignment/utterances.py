"""The utterances of a transcript: what is said from one pause to the next, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...util.parts import Part
from ..transcripts import TimedWord, Transcript, separators

PAUSE_SECONDS = 0.5
"""A longer pause between two words ends an utterance, so that a word which was not recognized is in none."""
MARGIN_SECONDS = 0.25
"""Audio that is kept before the first label of an utterance and after the last, which CTC may emit late or early."""


@dataclass(frozen=True)
class SpokenUtterance:
    """What is said in a part of a recording; `confidence` is the lowest of its words', from 0 to 1."""

    text: str
    part: Part
    confidence: float


def utterances_of(spoken: Transcript) -> Iterator[SpokenUtterance]:
    """Yield the utterances of a transcript. A part may reach beyond the end of the recording, by its margin."""
    before = separators(spoken.words, spoken.text)
    for places in _between_pauses(spoken.words):
        words = [spoken.words[place] for place in places]
        text = "".join(f"{before[place]}{spoken.words[place].text}" for place in places).strip(" ")
        part = Part(max(words[0].start - MARGIN_SECONDS, 0.0), words[-1].end + MARGIN_SECONDS)
        yield SpokenUtterance(text, part, min(word.confidence for word in words))


def _between_pauses(words: Sequence[TimedWord]) -> Iterator[range]:
    pauses = enumerate((following.start - word.end for word, following in pairwise(words)), start=1)
    begins = [place for place, seconds in pauses if seconds > PAUSE_SECONDS]
    return (range(first, last) for first, last in pairwise([0, *begins, len(words)]) if last)
