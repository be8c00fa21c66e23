"""Conversion between text and the integer labels of the model and the decoder.

This module has the alphabets of characters; those of other output units are in `output_units`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .errors import AlphabetError

_MARK = "\ufeff"
"""A label that is read as a byte order mark, and removed, at the beginning of a file without such a mark."""
_HASH = re.compile(r"\\*#")
"""The beginning of labels that an alphabet file writes with one more backslash."""

_TOKENS = ("<blank>", "<blk>", "<space>", "<sos/eos>")
"""Lines of other toolkits' lists of tokens; here, the blank has no line, and the space is a line with a space."""
_MAKE_ONE = "bin/make_alphabet.py makes an alphabet from transcripts"


@dataclass(frozen=True)
class Alphabet:
    """The labels of a model: label i is `labels[i]`, and the CTC blank follows the last.

    A label is a character, or a sequence such as a letter with its combining marks, or a digraph. A text is spelled
    from its beginning by the longest label that fits. The alphabets of other units are subclasses.
    """

    labels: tuple[str, ...]
    unit: ClassVar[str] = "characters"

    def __post_init__(self) -> None:
        """Raise AlphabetError unless labels differ, and none is empty, has a NUL, or has spaces beside others."""
        if not self.labels:
            raise AlphabetError("an alphabet needs at least one label")
        if any(_is_malformed(label) for label in self.labels) or len(set(self.labels)) != len(self.labels):
            raise AlphabetError(
                "an alphabet's labels must be distinct characters or sequences of them, without NUL, not "
                f"{self.labels!r}"
            )

    @classmethod
    def load(cls, path: str | PathLike[str], *, composed: bool = False) -> Alphabet:
        """Read an alphabet file: UTF-8, one label a line; lines that start with # are comments, \\# is a hash.

        Empty lines are ignored, but one from which an editor has probably removed the space is refused. If `composed`,
        labels are converted to Unicode's form NFC, for alphabets in NFD.
        Raise AlphabetError, naming the file and the line, if the file is not an alphabet.
        """
        line_of: dict[str, int] = {}
        empty_line = lost_space = 0
        for number, line in _numbered_lines(Path(path)):
            if not line:
                empty_line = empty_line or number
                continue
            label = _unescaped(unicodedata.normalize("NFC", line) if composed else line)
            if "\0" in label:
                raise AlphabetError(f"{path}:{number}: a NUL character, as in UTF-16; save the alphabet in UTF-8")
            if _is_malformed(label):
                raise AlphabetError(
                    f"{path}:{number}: a line holds one label, without spaces in it, but this one holds {line!r}; "
                    f"{_MAKE_ONE}"
                )
            if label in _TOKENS:
                raise AlphabetError(
                    f"{path}:{number}: {label} is a token of another toolkit, and no label; {_MAKE_ONE}"
                )
            if is_in_two_parts(label):
                remedy = "write the file, and the transcripts, in Unicode's form NFC, or give --normalize_transcripts"
                raise AlphabetError(f"{path}:{number}: label {line!r} is one character in two parts; {remedy}")
            if label in line_of:
                raise AlphabetError(f"{path}:{number}: label {label!r} was given before, in line {line_of[label]}")
            line_of[label] = number
            lost_space = empty_line
        if not line_of:
            raise AlphabetError(f"{path}: no labels; an alphabet file has one label a line")
        if lost_space and " " not in line_of:
            raise AlphabetError(f"{path}:{lost_space}: empty line; put the space back into it, or remove the line")
        return cls(tuple(line_of))

    @classmethod
    def restored(cls, labels: Sequence[str | bytes], unit_data: bytes) -> Alphabet:  # noqa: ARG003 - for subclasses
        """Return the alphabet with these `output_labels` and `unit_data`; raise AlphabetError if they are invalid."""
        return cls(tuple(label.decode("latin-1") if isinstance(label, bytes) else label for label in labels))

    @property
    def file_text(self) -> str:
        """The content of an alphabet file with these labels."""
        text = "".join(f"\\{label}\n" if _HASH.match(label) else f"{label}\n" for label in self.labels)
        return f"{_MARK}{text}" if text.startswith(_MARK) else text

    @property
    def size(self) -> int:
        """The number of labels, without the blank."""
        return len(self.labels)

    @property
    def blank(self) -> int:
        """The label that CTC uses for "no character here"."""
        return len(self.labels)

    def encode(self, text: str) -> npt.NDArray[np.int32]:
        """Return the labels of a text, int32 [labels]; raise AlphabetError naming each character without a label."""
        label_of = self._label_of
        pieces = text if self._longest == 1 else self._cut(text)
        try:
            return np.fromiter((label_of[piece] for piece in pieces), np.int32, len(pieces))
        except KeyError:
            missing = dict.fromkeys(self.missing(text))
            raise AlphabetError(f"not in the alphabet: {', '.join(map(describe, missing))}") from None

    def missing(self, text: str) -> list[str]:
        """Return the parts of a text that labels cannot spell: mostly characters."""
        return [piece for piece in self._cut(text) if piece not in self._label_of]

    def pieces(self, word: str) -> list[tuple[str, int]]:
        """Return the smallest parts of a word that labels spell, each with its number of labels."""
        return [(piece, 1) for piece in self._cut(word)]

    @property
    def delimiter(self) -> int | None:
        """The label between two words; None if words follow each other without one."""
        return self._label_of.get(" ")

    def decode(self, labels: Iterable[int]) -> str:
        """Return the text that labels spell; raise AlphabetError for a number that is no label, such as the blank."""
        return "".join(self._labels_of(labels))

    @property
    def output_labels(self) -> tuple[str | bytes, ...]:
        """The labels in exported graphs and the decoder: texts, or bytes of UTF-8."""
        return self.labels

    @property
    def unit_data(self) -> bytes:
        """Data of the alphabet, besides its labels, for exported graphs; mostly empty."""
        return b""

    def _labels_of(self, labels: Iterable[int]) -> list[str]:
        texts = []
        for label in labels:
            if not 0 <= label < self.size:
                raise AlphabetError(f"{label} is not a label; the alphabet has labels 0 to {self.size - 1}")
            texts.append(self.labels[label])
        return texts

    def _cut(self, text: str) -> list[str]:
        """Divide a text into the longest labels that fit, and single characters where none fits."""
        pieces: list[str] = []
        begin = 0
        while begin < len(text):
            candidates = (text[begin : begin + length] for length in range(self._longest, 1, -1))
            pieces.append(next((each for each in candidates if each in self._label_of), text[begin]))
            begin += len(pieces[-1])
        return pieces

    @cached_property
    def _label_of(self) -> dict[str, int]:
        return {text: label for label, text in enumerate(self.labels)}

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.labels))


def is_in_two_parts(label: str) -> bool:
    """Return whether a label is a letter and its mark that Unicode has as one character, which alphabets must have."""
    return len(label) > 1 and len(unicodedata.normalize("NFC", label)) == 1


def describe(character: str) -> str:
    """Return a character with its code point and name, as in "'a' (U+0061 LATIN SMALL LETTER A)".

    Several characters are returned without code points and names.
    """
    if len(character) != 1:
        return repr(character)
    name = unicodedata.name(character, "")
    return f"{character!r} (U+{ord(character):04X}{' ' if name else ''}{name})"


def outputs_needed(labels: npt.NDArray[np.int32]) -> int:
    """Return how many outputs CTC needs: one for each label, and one for a blank between two that are the same."""
    return len(labels) + int(np.count_nonzero(labels[1:] == labels[:-1]))


def _is_malformed(label: str) -> bool:
    return not label or "\0" in label or (len(label) > 1 and any(map(str.isspace, label)))


def _unescaped(line: str) -> str:
    return line[1:] if line.startswith("\\") and _HASH.match(line) else line


def _numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not comments, without their line ends, numbered from 1."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.startswith("#"):
                    yield number, line.rstrip("\n")
    except OSError as error:
        raise AlphabetError(f"{path}: cannot read the alphabet: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise AlphabetError(
            f"{path}: the alphabet is not UTF-8: {error}; a model of sentencepiece needs --output_unit=wordpieces"
        ) from error
