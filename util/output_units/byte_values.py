"""Transcripts as bytes of UTF-8: one small alphabet for every language."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import AlphabetError
from ..text import Alphabet

BYTE_LABELS = tuple(map(chr, range(1, 256)))
"""Every byte but zero, as the character of the same number, in the order of DeepSpeech's models."""


@dataclass(frozen=True)
class ByteAlphabet(Alphabet):
    """Labels that are bytes of UTF-8; in `labels`, each is written as the character of the same number."""

    labels: tuple[str, ...] = BYTE_LABELS
    unit: ClassVar[str] = "bytes"

    @classmethod
    def load(cls, path: str | PathLike[str], *, composed: bool = False) -> ByteAlphabet:  # noqa: ARG003
        """Raise AlphabetError, as the alphabet of bytes is not read from a file."""
        raise AlphabetError(f"{path}: models that write bytes need no alphabet; leave it out, or --output_unit bytes")

    def encode(self, text: str) -> npt.NDArray[np.int32]:
        """Return the labels of a text, int32 [bytes]; raise AlphabetError, naming each byte that the alphabet lacks."""
        return super().encode(text.encode().decode("latin-1"))

    def missing(self, text: str) -> list[str]:
        """Return the bytes without a label, as characters of the same numbers."""
        return super().missing(text.encode().decode("latin-1"))

    def pieces(self, word: str) -> list[tuple[str, int]]:
        """Return the characters of a word, each with the number of its bytes."""
        return [(character, len(character.encode())) for character in word]

    def decode(self, labels: Iterable[int]) -> str:
        """Return the text that labels spell; bytes that are not UTF-8 become replacement characters."""
        return super().decode(labels).encode("latin-1").decode("utf-8", "replace")

    @property
    def output_labels(self) -> tuple[str | bytes, ...]:
        """The bytes."""
        return tuple(label.encode("latin-1") for label in self.labels)
