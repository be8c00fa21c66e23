"""Output units: what a label of a model represents. Each has a module with its alphabet, and a line here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import AlphabetError
from ..text import Alphabet
from .byte_values import ByteAlphabet
from .syllables import SyllableAlphabet
from .word_pieces import WordPieceAlphabet

__all__ = [
    "UNITS",
    "ByteAlphabet",
    "SyllableAlphabet",
    "WordPieceAlphabet",
    "load_alphabet",
    "restored_alphabet",
]

_ALPHABETS: Sequence[type[Alphabet]] = (Alphabet, ByteAlphabet, WordPieceAlphabet, SyllableAlphabet)

UNITS: Mapping[str, type[Alphabet]] = {alphabet.unit: alphabet for alphabet in _ALPHABETS}
"""The alphabets by the names of their units."""


def load_alphabet(
    unit: str, path: Path | None, *, composed: bool = False, flag: str = "--alphabet_config_path"
) -> Alphabet:
    """Read the alphabet of an output unit, one of UNITS, from its file; the alphabet of bytes needs none.

    If `composed`, labels of characters are converted to Unicode's form NFC. Raise AlphabetError, naming the file, or
    the command's `flag` for it if there is none.
    """
    alphabet = UNITS[unit]
    if path is not None:
        return alphabet.load(path, composed=composed)
    if alphabet is ByteAlphabet:
        return ByteAlphabet()
    raise AlphabetError(
        f"--output_unit={unit}: needs {flag}; bin/make_alphabet.py --output_unit={unit} makes the file from transcripts"
    )


def restored_alphabet(unit: str, labels: Sequence[str | bytes], unit_data: bytes) -> Alphabet:
    """Return the alphabet with this unit, `output_labels` and `unit_data`.

    Raise AlphabetError for an unknown unit, or for labels that do not belong to the unit.
    """
    if unit not in UNITS:
        raise AlphabetError(f"its output unit is {unit!r}, but {', '.join(UNITS)} are known")
    return UNITS[unit].restored(labels, unit_data)
