"""Errors of Mandarin in syllables of pinyin, with and without their tones."""

from __future__ import annotations

import importlib.util
import re
from functools import lru_cache
from typing import NamedTuple

from ..output_units.syllables import SYLLABLE, syllables_of

_HAN = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3041-\u30ff\uff66-\uff9f]")


class SyllableErrors(NamedTuple):
    """Edits that turn the syllables of a hypothesis into those of its reference, and the number of syllables."""

    edits: int = 0
    toneless_edits: int = 0
    """The edits without tones."""
    syllables: int = 0


def syllable_errors(reference: str, hypothesis: str) -> SyllableErrors:
    """Return the syllable errors of a hypothesis; each text may be in Chinese characters or in syllables.

    pypinyin gives the syllables of characters. Without it, and for other languages, nothing is counted.
    """
    if not _is_mandarin(reference) or not _has_pypinyin():
        return SyllableErrors()
    from rapidfuzz.distance import Levenshtein

    said, heard = _syllables(reference), _syllables(hypothesis)
    return SyllableErrors(
        Levenshtein.distance(said, heard), Levenshtein.distance(_toneless(said), _toneless(heard)), len(said)
    )


def _is_mandarin(text: str) -> bool:
    """Return whether a text has Chinese but no Japanese characters, or consists of syllables."""
    if _HAN.search(text):
        return not _KANA.search(text)
    return _of_syllables(text)


def _of_syllables(text: str) -> bool:
    written = text.split()
    return bool(written) and all(map(SYLLABLE.fullmatch, written))


def _syllables(text: str) -> list[str]:
    return text.split() if _of_syllables(text) else syllables_of(text)


def _toneless(syllables: list[str]) -> list[str]:
    return [each.rstrip("12345") for each in syllables]


@lru_cache(maxsize=1)
def _has_pypinyin() -> bool:
    return importlib.util.find_spec("pypinyin") is not None
