"""The part of a partial transcript that will not change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...decoder import Hypothesis
from ...util.transcripts import has_unspaced, letters_with_marks
from ..transcripts import TimedWord
from .words import probabilities

STABLE_AGREEMENT = 0.9
"""With a language model, which may change words far back, the share of probability that must have a stable part."""

_WORD = re.compile("( *)([^ ]+)")
_WORD_AND_SPACES = re.compile(" *[^ ]+")


def stable_text(hypotheses: Sequence[Hypothesis], *, has_language_model: bool) -> str:
    """Return the beginning of the best hypothesis's text that will not change; `hypotheses` are so far, best first.

    It consists of the first `parts` of the text. The last part may be unfinished, so it is never stable.
    """
    best = _parts_of(hypotheses[0])
    finished = max(len(best) - 1, 0)
    if not has_language_model:
        return "".join(best[:finished])
    weights = probabilities(hypotheses)
    shared = [finished, *(in_common(best, _parts_of(other)) for other in hypotheses[1:])]
    stable = 0
    while stable < finished:
        agreement = sum(weight for weight, count in zip(weights, shared, strict=True) if count > stable)
        if agreement < STABLE_AGREEMENT:
            break
        stable += 1
    return "".join(best[:stable])


def stable_words(words: Sequence[TimedWord], text: str, stable: str) -> int:
    """Return how many of the first words of a text will not change, if its beginning `stable` will not.

    The phrase of a text without spaces that ends with `stable` may still grow.
    """
    end = len(stable) + text.startswith(" ", len(stable))
    place = 0
    for number, word in enumerate(words):
        begin = text.find(word.text, place)
        place = begin + len(word.text)
        if begin < 0 or place >= end:
            return number
    return len(words)


def parts(text: str, *, spaced: bool = True) -> list[str]:
    """Return the parts of a text that become stable one after the other: words, each with the spaces before it.

    In scripts without spaces, and in texts that are not `spaced`, they are letters with their marks.
    """
    if spaced and not has_unspaced(text):  # the same result in less time: partial results need it often
        return _WORD_AND_SPACES.findall(text)
    found: list[str] = []
    for spaces, word in _WORD.findall(text):
        first, *others = letters_with_marks(word) if has_unspaced(word) or not spaced else [word]
        found += [spaces + first, *others]
    return found


def _parts_of(hypothesis: Hypothesis) -> list[str]:
    return parts(hypothesis.text, spaced=hypothesis.label_texts.divide_words)


def in_common(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Return how many items two sequences have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (item, another) in pairs if item != another), min(len(one), len(other)))
