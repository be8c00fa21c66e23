"""Between text and the integer labels of the model and the decoder."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .errors import AlphabetError


@dataclass(frozen=True)
class Alphabet:
    """The characters a model can write: label i stands for `labels[i]`, and the CTC blank comes after the last."""

    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raise AlphabetError unless there is a label, each is one character, and no two are the same."""
        if not self.labels:
            raise AlphabetError("an alphabet needs at least one label")
        if any(len(label) != 1 for label in self.labels) or len(set(self.labels)) != len(self.labels):
            raise AlphabetError(f"an alphabet's labels must be distinct single characters, not {self.labels!r}")

    @classmethod
    def load(cls, path: str | PathLike[str], *, composed: bool = False) -> Alphabet:
        """Read an alphabet file: UTF-8, one character a line; lines that start with # are comments, \\# is a hash.

        Empty lines are passed over, but one that seems to have lost its space to an editor is refused. If `composed`,
        labels are brought into Unicode's form NFC, as those of an alphabet in NFD.
        Raise AlphabetError, naming the file and the line, if the file is not an alphabet.
        """
        line_of: dict[str, int] = {}
        empty_line = lost_space = 0
        for number, line in _numbered_lines(Path(path)):
            if not line:
                empty_line = empty_line or number
                continue
            label = "#" if line == "\\#" else unicodedata.normalize("NFC", line) if composed else line
            if len(label) != 1:
                one_in_nfc = len(unicodedata.normalize("NFC", label)) == 1
                remedy = "write the file, and the transcripts, in Unicode's form NFC, or give --normalize_transcripts"
                raise AlphabetError(
                    f"{path}:{number}: a label is one character, but this line holds {line!r}"
                    + (f"; {remedy}" if one_in_nfc else "")
                )
            if label in line_of:
                raise AlphabetError(f"{path}:{number}: label {label!r} was given before, in line {line_of[label]}")
            line_of[label] = number
            lost_space = empty_line
        if not line_of:
            raise AlphabetError(f"{path}: no labels; an alphabet file has one character a line")
        if lost_space and " " not in line_of:
            raise AlphabetError(f"{path}:{lost_space}: empty line; put the space back into it, or remove the line")
        return cls(tuple(line_of))

    @property
    def file_text(self) -> str:
        """What an alphabet file holds that `load` reads as these labels."""
        return "".join("\\#\n" if label == "#" else f"{label}\n" for label in self.labels)

    @property
    def size(self) -> int:
        """How many labels there are, the blank not counted."""
        return len(self.labels)

    @property
    def blank(self) -> int:
        """The label that CTC uses for "no character here"."""
        return len(self.labels)

    def encode(self, text: str) -> npt.NDArray[np.int32]:
        """Return the labels of a text, int32 [characters]; raise AlphabetError naming each character it lacks."""
        label_of = self._label_of
        try:
            return np.fromiter((label_of[character] for character in text), np.int32, len(text))
        except KeyError:
            missing = dict.fromkeys(character for character in text if character not in label_of)
            raise AlphabetError(f"not in the alphabet: {', '.join(map(describe, missing))}") from None

    def decode(self, labels: Iterable[int]) -> str:
        """Return the text that labels spell; raise AlphabetError for a number that is not a label, as the blank."""
        characters = []
        for label in labels:
            if not 0 <= label < self.size:
                raise AlphabetError(f"{label} is not a label; the alphabet has labels 0 to {self.size - 1}")
            characters.append(self.labels[label])
        return "".join(characters)

    @cached_property
    def _label_of(self) -> dict[str, int]:
        return {character: label for label, character in enumerate(self.labels)}


def describe(character: str) -> str:
    """Return a character with its code point and name, as in "'a' (U+0061 LATIN SMALL LETTER A)"."""
    name = unicodedata.name(character, "")
    return f"{character!r} (U+{ord(character):04X}{' ' if name else ''}{name})"


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
        raise AlphabetError(f"{path}: the alphabet is not UTF-8: {error}") from error
