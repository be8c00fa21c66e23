"""Which words of a transcript in progress will stay, and how often words of such transcripts change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...decoder import Hypothesis
from .words import probabilities

STABLE_AGREEMENT = 0.9
"""With a language model, which may change words far back, as much of the hypotheses' probability has a stable word."""


def stable_words(hypotheses: Sequence[Hypothesis], *, has_language_model: bool) -> int:
    """Return how many of the best hypothesis's leading words will not change; `hypotheses` are so far, best first.

    The last word may be unfinished, so it is never one of them.
    """
    words = [word.text for word in hypotheses[0].words]
    if not has_language_model:
        return max(len(words) - 1, 0)
    weights = probabilities(hypotheses)
    texts = [[word.text for word in hypothesis.words] for hypothesis in hypotheses]
    stable = 0
    while stable < len(words) - 1:
        prefix = words[: stable + 1]
        agreement = sum(weight for weight, text in zip(weights, texts, strict=True) if text[: stable + 1] == prefix)
        if agreement < STABLE_AGREEMENT:
            break
        stable += 1
    return stable


@dataclass(frozen=True)
class Changes:
    """Words of transcripts in progress, and how many of them are others in the final one; of the stable words, too."""

    words: int = 0
    changed: int = 0
    stable: int = 0
    stable_changed: int = 0

    def __add__(self, other: Changes) -> Changes:
        return Changes(
            self.words + other.words,
            self.changed + other.changed,
            self.stable + other.stable,
            self.stable_changed + other.stable_changed,
        )


def changes(partial: Sequence[str], stable: int, final: Sequence[str]) -> Changes:
    """Compare the words of a transcript in progress, of which the first are stable, with those of the final one."""
    differ = [number >= len(final) or word != final[number] for number, word in enumerate(partial)]
    return Changes(len(partial), sum(differ), stable, sum(differ[:stable]))
