"""Transcripts of Mandarin in syllables of pinyin with tones, such as ni3 hao3; 5 is the neutral tone, v means ü.

The reading of a character depends on the words around it, by the dictionaries of pypinyin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import AlphabetError
from ..text import Alphabet, describe
from ..web.libraries import needs

_CHARACTERS = range(0x4E00, 0xA000)

SYLLABLE = re.compile(r"[a-z]+[1-5]")


@dataclass(frozen=True)
class SyllableAlphabet(Alphabet):
    """Labels that are syllables. Each label begins with a space, because a syllable is a word of the transcripts."""

    unit: ClassVar[str] = "pinyin"

    def __post_init__(self) -> None:
        """Raise AlphabetError unless labels are distinct syllables, each after a space."""
        if not self.labels or len(set(self.labels)) != len(self.labels):
            raise AlphabetError("syllables must be distinct, and there must be one at least")
        for label in self.labels:
            if label[:1] != " " or not SYLLABLE.fullmatch(label[1:]):
                raise AlphabetError(f"{label!r} is not a syllable of pinyin with its tone, such as ' ma3'")

    @classmethod
    def of(cls, syllables: Iterable[str]) -> SyllableAlphabet:
        """Return the alphabet of syllables without the spaces, as an alphabet file lists them."""
        return cls(tuple(f" {syllable}" for syllable in syllables))

    @classmethod
    def load(cls, path: str | PathLike[str], *, composed: bool = False) -> SyllableAlphabet:
        """Read a file of syllables, one a line; raise AlphabetError, naming the file, for anything else."""
        syllables = Alphabet.load(path, composed=composed).labels
        try:
            return cls.of(syllables)
        except AlphabetError as error:
            raise AlphabetError(f"{path}: {error}") from None

    @property
    def file_text(self) -> str:
        """The content of an alphabet file with these labels."""
        return "".join(f"{label[1:]}\n" for label in self.labels)

    def encode(self, text: str) -> npt.NDArray[np.int32]:
        """Return the labels of a text in characters, or in syllables separated by spaces, int32 [syllables].

        Raise AlphabetError naming parts that are neither, or syllables that the alphabet lacks, and without pypinyin.
        """
        label_of = self._label_of
        try:
            return np.array([label_of[f" {syllable}"] for syllable, _ in self._read(text)], np.int32)
        except KeyError:
            missing = dict.fromkeys(self.missing(text))
            raise AlphabetError(f"not in the alphabet: {', '.join(map(describe, missing))}") from None

    def missing(self, text: str) -> list[str]:
        """Return characters that have no reading, and the syllables of others that are not in the alphabet."""
        return [syllable for syllable, _ in self._read(text) if f" {syllable}" not in self._label_of]

    def pieces(self, word: str) -> list[tuple[str, int]]:
        """Return the characters of a word, or the syllable that it is."""
        return [(written, 1) for _, written in self._read(word)]

    @property
    def delimiter(self) -> int | None:
        """None: each syllable begins with a space of its own."""
        return None

    def _read(self, text: str) -> list[tuple[str, str]]:
        """Return the syllables of a text, or parts without a reading, each with its written form."""
        written = text.split()
        if all(map(SYLLABLE.fullmatch, written)):
            return [(syllable, syllable) for syllable in written]
        return list(zip(syllables_of(text), "".join(written), strict=True))

    def decode(self, labels: Iterable[int]) -> str:
        """Return the syllables of labels, with spaces between them."""
        return "".join(self._labels_of(labels)).strip(" ")

    def readings(self, characters: Iterable[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return those of `characters` that have readings in this alphabet, each once per reading, and their labels.

        Other characters are left out. Raise AlphabetError without pypinyin.
        """
        pairs = [
            (character, self._label_of[f" {syllable}"])
            for character in characters
            for syllable in readings_of(character)
            if f" {syllable}" in self._label_of
        ]
        return tuple(character for character, _ in pairs), tuple(label for _, label in pairs)


def syllables_of(text: str) -> list[str]:
    """Return the syllables of a text in characters; parts without a reading stay as they are.

    White space is ignored. Raise AlphabetError without pypinyin.
    """
    pypinyin, options = _pypinyin()
    characters = "".join(text.split())
    syllables: list[str] = pypinyin.lazy_pinyin(characters, errors=list, **options)
    return syllables


def readings_of(character: str) -> list[str]:
    """Return all readings of a character, the most usual first; raise AlphabetError."""
    pypinyin, options = _pypinyin()
    alone: Sequence[Sequence[str]] = pypinyin.pinyin(character, heteronym=True, errors="ignore", **options)
    readings = dict.fromkeys([*(alone[0] if alone else ()), *sorted(_readings_in_phrases().get(character, ()))])
    return [each for each in readings if SYLLABLE.fullmatch(each)]


def regular_syllables() -> set[str]:
    """Return every syllable of the characters in Unicode's first block of Chinese; raise AlphabetError."""
    return {syllable for code in _CHARACTERS for syllable in readings_of(chr(code))}


@lru_cache(maxsize=1)
def _readings_in_phrases() -> Mapping[str, set[str]]:
    """Return the readings of characters in words; a few are not readings of the single character, as 个 in 一个."""
    from pypinyin.constants import PHRASES_DICT
    from pypinyin.contrib.tone_convert import to_tone3

    marked: dict[str, set[str]] = {}
    for phrase, readings in PHRASES_DICT.items():
        for character, of_character in zip(phrase, readings, strict=False):
            marked.setdefault(character, set()).add(of_character[0])
    return {
        character: {to_tone3(each, neutral_tone_with_five=True) for each in readings}
        for character, readings in marked.items()
    }


def _pypinyin() -> tuple[Any, dict[str, Any]]:
    try:
        import pypinyin
    except ImportError:
        raise AlphabetError(needs("pinyin", ["pypinyin"], "mandarin")) from None
    return pypinyin, {"style": pypinyin.Style.TONE3, "neutral_tone_with_five": True}
