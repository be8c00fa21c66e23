"""Transcripts in word pieces: parts of words that sentencepiece chooses by their frequency in a text.

Source for the choice of pieces and the division of texts: Kudo, "Subword regularization: improving neural network
translation models with multiple subword candidates", ACL 2018.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import AlphabetError
from ..text import Alphabet, describe
from ..web.libraries import needs

WORD_BEGIN = "\u2581"
"""sentencepiece's sign for the space before a word."""


@dataclass(frozen=True)
class WordPieceAlphabet(Alphabet):
    """Labels that are pieces of words; a piece that begins a word begins with a space.

    sentencepiece divides texts into pieces; only `encode` needs it.
    """

    model: bytes = field(repr=False)
    """The content of sentencepiece's model file."""
    unit: ClassVar[str] = "wordpieces"

    def __post_init__(self) -> None:
        """Raise AlphabetError unless there are labels, and they are distinct."""
        if not self.labels or not all(self.labels) or len(set(self.labels)) != len(self.labels):
            raise AlphabetError("word pieces must be distinct texts")

    @classmethod
    def load(cls, path: str | PathLike[str], *, composed: bool = False) -> WordPieceAlphabet:  # noqa: ARG003
        """Read a model of sentencepiece; raise AlphabetError, naming the file, if it is none."""
        try:
            model = Path(path).read_bytes()
        except OSError as error:
            raise AlphabetError(f"{path}: cannot read the word pieces: {error.strerror}") from error
        try:
            return cls.of(model)
        except AlphabetError as error:
            raise AlphabetError(f"{path}: {error}") from None

    @classmethod
    def of(cls, model: bytes) -> WordPieceAlphabet:
        """Return the alphabet of a sentencepiece model, given its file's content; raise AlphabetError if it is none."""
        return cls(tuple(_texts(_processor(model))), model)

    @classmethod
    def restored(cls, labels: Sequence[str | bytes], unit_data: bytes) -> WordPieceAlphabet:
        """Return the alphabet with these labels; the model `unit_data` divides texts into them."""
        return cls(tuple(str(label) for label in labels), unit_data)

    @property
    def unit_data(self) -> bytes:
        """The model of sentencepiece."""
        return self.model

    @property
    def cuts_texts(self) -> bool:
        """Whether sentencepiece, which `encode` needs, is installed."""
        return find_spec("sentencepiece") is not None

    def encode(self, text: str) -> npt.NDArray[np.int32]:
        """Return the labels of a text, int32 [pieces].

        Raise AlphabetError naming each character that no piece contains, and without sentencepiece.
        """
        labels = self._label_of_piece[np.array(self._sentencepiece.encode(text), np.int32)]
        if (labels < 0).any():
            raise AlphabetError(f"not in any word piece: {', '.join(map(describe, dict.fromkeys(self.missing(text))))}")
        return labels

    def missing(self, text: str) -> list[str]:
        """Return the characters that no piece contains."""
        unknown = self._sentencepiece.unk_id()
        return [each for each in text if unknown in self._sentencepiece.encode(each)]

    def pieces(self, word: str) -> list[tuple[str, int]]:
        """Return the pieces of a word, without the space before it."""
        return [(self.labels[label].strip(" "), 1) for label in self.encode(word)]

    @property
    def delimiter(self) -> int | None:
        """None: words begin with a space of their own."""
        return None

    def decode(self, labels: Iterable[int]) -> str:
        """Return the text that labels spell, without the space before its first word."""
        return "".join(self._labels_of(labels)).strip(" ")

    @cached_property
    def _sentencepiece(self) -> Any:
        return _processor(self.model)

    @cached_property
    def _label_of_piece(self) -> npt.NDArray[np.int32]:
        label_of = {text: label for label, text in enumerate(self.labels)}
        processor = self._sentencepiece
        texts = (_text(processor.id_to_piece(piece)) for piece in range(processor.get_piece_size()))
        return np.array([label_of.get(text, -1) for text in texts], np.int32)


def _processor(model: bytes) -> Any:
    """Return sentencepiece's processor of a model; raise AlphabetError if it is no model, or without the library."""
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise AlphabetError(needs("a model of word pieces", ["sentencepiece"], "wordpieces")) from None
    try:
        return SentencePieceProcessor(model_proto=model)
    except RuntimeError:
        raise AlphabetError(
            "not a model of sentencepiece; bin/make_alphabet.py --output_unit=wordpieces makes one from transcripts"
        ) from None


def _texts(processor: Any) -> Iterator[str]:
    """Yield the pieces of texts; raise AlphabetError for pieces that represent bytes."""
    for piece in range(processor.get_piece_size()):
        if processor.is_byte(piece):
            raise AlphabetError("some of its pieces are bytes; train it without byte_fallback")
        if not (processor.is_control(piece) or processor.is_unknown(piece) or processor.is_unused(piece)):
            yield _text(processor.id_to_piece(piece))


def _text(piece: str) -> str:
    return piece.replace(WORD_BEGIN, " ")
