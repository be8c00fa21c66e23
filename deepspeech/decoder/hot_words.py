"""Hot words in the form that labels can spell: as normalized transcripts are written."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from ..util.transcripts import APOSTROPHES, Normalizer
from . import Scorer

_DOTLESS_I = "\u0131"


def spelled(word: str, scorer: Scorer) -> str | None:
    """Return a hot word in a form that the scorer can spell; None if there is none.

    Its own form is the first choice, then one that looks the same in Unicode, then those of normalized transcripts:
    another case, other apostrophes and hyphens. A word with a symbol that is said as another word, such as %, is not
    normalized.
    """
    return next(filter(scorer.can_spell, _forms(word, scorer)), None)


def _forms(word: str, scorer: Scorer) -> Iterator[str]:
    yield from (word, *_of_unicode(word))
    normalizers, apostrophes = _normalizations(scorer.labels)
    for normalizer in normalizers:
        if not normalizer.spoken_symbols(word):
            for apostrophe in apostrophes:
                yield from _of_unicode(normalizer(word).replace("'", apostrophe))


def _of_unicode(text: str) -> tuple[str, ...]:
    return tuple(unicodedata.normalize(form, text) for form in ("NFC", "NFD"))


@lru_cache
def _normalizations(labels: tuple[str | bytes, ...]) -> tuple[tuple[Normalizer, ...], str]:
    """Return the normalizations that write texts in these labels, and the apostrophes to write."""
    characters = {character for label in labels if isinstance(label, str) for character in label}
    kept = "".join(sorted({"'", *(each for each in characters if not each.isalnum())}))
    cases = ("keep", "turkish" if _DOTLESS_I in characters else "lower", "upper")
    apostrophes = "".join(each for each in f"'{APOSTROPHES}" if each in characters)
    return tuple(Normalizer(case, kept) for case in cases), apostrophes or "'"
