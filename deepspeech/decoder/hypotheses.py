"""Transcripts and their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_SPACES = (" ", b" ")


@dataclass(frozen=True)
class Word:
    """A word of a transcript: it appears in the frames from `start` up to, but without, `end`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Hypothesis:
    """A transcript. Scores are natural logarithms; see the module for how they add up."""

    text: str
    score: float
    acoustic_score: float
    lm_score: float
    labels: tuple[int, ...]
    """Of all sequences of labels with this text, the best."""
    columns: tuple[int, ...]
    """The column of the posteriors of each label."""
    timesteps: tuple[int, ...]
    """The frame at which each label appeared."""
    words: tuple[Word, ...]


def has_pieces(labels: Sequence[str | bytes]) -> bool:
    """Return whether words begin at labels that have more than the space before the word."""
    return any(text[:1] in _SPACES and text not in _SPACES for text in labels)


def join(texts: Sequence[str | bytes]) -> str:
    """Return the text; bytes that are not UTF-8 become replacement characters."""
    joined = b"".join(text if isinstance(text, bytes) else text.encode() for text in texts)
    return joined.decode("utf-8", "replace")


def words_of(texts: Sequence[str | bytes], frames: Sequence[int]) -> tuple[Word, ...]:
    """Return the words, which begin at labels that begin with a space, or after those that are one."""
    begins = [place for place, text in enumerate(texts) if text[:1] in _SPACES]
    words: list[Word] = []
    for begin, end in pairwise([0, *begins, len(texts)]):
        start = begin + 1 if begin < end and texts[begin] in _SPACES else begin
        if start < end:
            text = join(texts[start:end]).removeprefix(" ")
            words.append(Word(text, frames[start], frames[end - 1] + 1))
    return tuple(words)
