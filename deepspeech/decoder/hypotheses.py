"""Transcripts and their words."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ..util.transcripts import has_unspaced, is_mark

_SPACES = (" ", b" ")
_LONGEST_CHARACTER = 4
"""Bytes of UTF-8."""
_LETTER_FRAMES = 6
"""Frames after a letter's last label in which other hypotheses may have the same letter, if no other letter begins."""
_BETWEEN_SPACES = re.compile("[^ ]+")


class Word(NamedTuple):
    """A word of a transcript: it appears in the frames from `start` up to, but without, `end`."""

    text: str
    start: int
    end: int


class LabelTexts:
    """How labels are read as text and as words."""

    def __init__(self, texts: Sequence[str | bytes], columns: Sequence[int], *, spaced: bool = False) -> None:
        """Take each label's text and its column of the posteriors; `spaced` texts are words with one space between."""
        self._texts = tuple(texts)
        self._columns = tuple(columns)
        self._spaced = spaced
        self._are_characters = all(isinstance(text, str) for text in texts)
        self._are_single = all(isinstance(text, str) and len(text) == 1 for text in texts)
        self._begins = {label for label, text in enumerate(texts) if text[:1] in _SPACES}
        self._spaces = {label for label in self._begins if texts[label] in _SPACES}
        self._has_pieces = self._begins > self._spaces

    def columns(self, labels: Sequence[int]) -> tuple[int, ...]:
        """Return the column of each label."""
        return tuple([self._columns[label] for label in labels])

    def text(self, labels: Sequence[int]) -> str:
        """Return the text of labels. It does not need their words, which take longer: partial results need it often."""
        text = self.joined(labels)
        if self._spaced:
            return " ".join(filter(None, text.split(" ")))
        return text.strip(" ") if self._has_pieces else text

    def words(self, labels: Sequence[int], frames: Sequence[int]) -> tuple[Word, ...]:
        """Return the words. A word begins at a label that begins with a space, or after a label that is a space."""
        if self._are_single:  # the same result in less time: partial results need it often
            found = _BETWEEN_SPACES.finditer(self.joined(labels))
            return tuple([Word(each[0], frames[each.start()], frames[each.end() - 1] + 1) for each in found])
        begins = [place for place, label in enumerate(labels) if label in self._begins]
        words = []
        for begin, end in pairwise([0, *begins, len(labels)]):
            start = begin + 1 if begin < end and labels[begin] in self._spaces else begin
            if start < end:
                text = self.joined(labels[start:end]).removeprefix(" ")
                words.append(Word(text, frames[start], frames[end - 1] + 1))
        return tuple(words)

    @property
    def divide_words(self) -> bool:
        """Whether a label is a space, or begins with one; otherwise, all labels of a text are one word."""
        return bool(self._begins)

    def letter_begins(self, labels: Sequence[int]) -> list[int]:
        """Return the places where letters begin, leaving out their further bytes and their marks."""
        if self._are_single:  # the same result in less time
            return [place for place, text in enumerate(self.joined(labels)) if not place or not is_mark(text)]
        characters = pairwise([*self._character_begins(labels), len(labels)])
        return [begin for begin, end in characters if not begin or not is_mark(self.joined(labels[begin:end])[0])]

    def parts(self, word: Word, labels: Sequence[int], frames: Sequence[int]) -> tuple[Word, ...]:
        """Return a word, or its letters if it is written without spaces, of labels that appear at these frames."""
        if self.divide_words and not has_unspaced(word.text):
            return (word,)
        first, last = (bisect_left(frames, frame) for frame in (word.start, word.end))
        labels, frames = labels[first:last], frames[first:last]
        letters = []
        for begin, end in pairwise([*self.letter_begins(labels), len(labels)]):
            text = word.text[begin:end] if self._are_single else self.joined(labels[begin:end]).removeprefix(" ")
            reach = frames[end - 1] + 1 + _LETTER_FRAMES
            letters.append(Word(text, frames[begin], min(reach, frames[end]) if end < len(frames) else reach))
        return tuple(letters)

    def tokens(self, labels: Sequence[int]) -> list[tuple[int, str]]:
        """Return the place and text of each label; for labels of bytes, of each character, as one byte is no text.

        Together they are the `text`: without the spaces at its ends that this leaves out.
        """
        begins = self._character_begins(labels)
        tokens = [(begin, self.joined(labels[begin:end])) for begin, end in pairwise([*begins, len(labels)])]
        return _without_outer_spaces(tokens) if self._spaced or self._has_pieces else tokens

    def whole_characters(self, labels: Sequence[int]) -> int:
        """Return the number of labels up to the last whole character: the first bytes of another may follow."""
        texts = [self._texts[label] for label in labels[-_LONGEST_CHARACTER:]]
        begin = max(self._character_begins(labels[-_LONGEST_CHARACTER:]), default=0)
        last = b"".join([text for text in texts[begin:] if isinstance(text, bytes)])
        is_whole = not last or codecs.utf_8_decode(last, "replace", False)[1] > 0
        return len(labels) if is_whole else len(labels) - len(texts) + begin

    def _character_begins(self, labels: Sequence[int]) -> list[int]:
        """Return the places of labels that are not further bytes of UTF-8."""
        texts = [self._texts[label] for label in labels]
        return [
            place
            for place, text in enumerate(texts)
            if not place or isinstance(text, str) or text[0] & 0b1100_0000 != 0b1000_0000
        ]

    def joined(self, labels: Sequence[int]) -> str:
        """Return the text; bytes that are not UTF-8 become replacement characters."""
        texts = [self._texts[label] for label in labels]
        if self._are_characters:
            return "".join(texts)  # type: ignore[arg-type]
        return b"".join([text if isinstance(text, bytes) else text.encode() for text in texts]).decode(
            "utf-8", "replace"
        )


def _without_outer_spaces(tokens: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return tokens without the spaces before the first word and after the last."""
    spoken = [place for place, (_, text) in enumerate(tokens) if text.strip(" ")]
    if not spoken:
        return []
    begin, text = tokens[spoken[0]]
    return [(begin, text.lstrip(" ")), *tokens[spoken[0] + 1 : spoken[-1] + 1]]


@dataclass(frozen=True)
class Hypothesis:
    """A transcript. Scores are natural logarithms; see the module for how they add up."""

    score: float
    acoustic_score: float
    lm_score: float
    labels: tuple[int, ...]
    """The best of all sequences of labels with this text."""
    timesteps: tuple[int, ...]
    """The frame at which each label appeared."""
    label_texts: LabelTexts = field(repr=False, compare=False)

    def so_far(self) -> Hypothesis:
        """Return the hypothesis without a last character of which only the first bytes are there yet."""
        count = self.label_texts.whole_characters(self.labels)
        if count == len(self.labels):
            return self
        return replace(self, labels=self.labels[:count], timesteps=self.timesteps[:count])

    @cached_property
    def text(self) -> str:
        """What was said."""
        return self.label_texts.text(self.labels)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words of the text."""
        return self.label_texts.words(self.labels, self.timesteps)

    @cached_property
    def parts(self) -> tuple[tuple[Word, ...], ...]:
        """What of each word may be right or wrong: the word, or each letter of one that is written without spaces."""
        if self.label_texts.divide_words and not has_unspaced(self.text):  # the same result in less time
            return tuple([(word,) for word in self.words])
        return tuple([self.label_texts.parts(word, self.labels, self.timesteps) for word in self.words])

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The column of the posteriors of each label."""
        return self.label_texts.columns(self.labels)
