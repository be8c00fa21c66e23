"""The words of a partial transcript that will not change."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoder import Hypothesis
from .words import probabilities

STABLE_AGREEMENT = 0.9
"""With a language model, which may change words far back, the share of probability that must have a stable word."""


def stable_words(hypotheses: Sequence[Hypothesis], *, has_language_model: bool) -> int:
    """Return how many of the best hypothesis's leading words will not change; `hypotheses` are so far, best first.

    The last word may be unfinished, so it never counts.
    """
    words = [word.text for word in hypotheses[0].words]
    finished = max(len(words) - 1, 0)
    if not has_language_model:
        return finished
    weights = probabilities(hypotheses)
    shared = [words_in_common(words, [word.text for word in hypothesis.words]) for hypothesis in hypotheses]
    stable = 0
    while stable < finished:
        agreement = sum(weight for weight, count in zip(weights, shared, strict=True) if count > stable)
        if agreement < STABLE_AGREEMENT:
            break
        stable += 1
    return stable


def words_in_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (word, another) in pairs if word != another), min(len(one), len(other)))
