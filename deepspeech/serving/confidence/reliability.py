"""How well confidences predict which words are right: a reliability table, and figures that sum it up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BINS = 10
"""Ranges of confidences in the table, all of the same width."""


@dataclass(frozen=True)
class Bin:
    """The words with confidences from `low` to `high`: their number, mean confidence, and share of right words."""

    low: float
    high: float
    words: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Reliability:
    """The table, and for all words the expected calibration error and the area under the ROC curve."""

    bins: tuple[Bin, ...]
    """Ranges without words are left out."""
    words: int
    right: float
    error: float
    """The mean distance of bins' confidences from their shares of right words, weighed by words (Guo et al., 2017)."""
    area: float
    """The probability that a right word has a higher confidence than a wrong one; 0.5 without right or wrong words."""

    def lines(self) -> list[str]:
        """Return the table and its figures as lines of text."""
        rows = [
            f"{each.low:.1f} to {each.high:.1f}  {each.words:6}  {each.confidence:10.3f}  {each.right:6.3f}"
            for each in self.bins
        ]
        figures = f"{self.words} words, {self.right:.1%} right: expected calibration error {self.error:.3f}"
        return ["confidence   words  confidence   right", *rows, f"{figures}, area under the curve {self.area:.3f}"]


def reliability(confidences: Sequence[float], right: Sequence[bool]) -> Reliability:
    """Return how reliable the confidences of words are, from whether each word is right."""
    of_words, targets = np.asarray(confidences, np.float64), np.asarray(right, bool)
    places = np.minimum((of_words * BINS).astype(int), BINS - 1)
    bins = []
    for place in range(BINS):
        chosen = places == place
        if chosen.any():
            means = float(of_words[chosen].mean()), float(targets[chosen].mean())
            bins.append(Bin(place / BINS, (place + 1) / BINS, int(chosen.sum()), *means))
    words = len(of_words)
    error = sum(each.words * abs(each.confidence - each.right) for each in bins) / max(words, 1)
    return Reliability(tuple(bins), words, float(targets.mean()) if words else 0.0, error, _area(of_words, targets))


def _area(confidences: npt.NDArray[np.float64], right: npt.NDArray[np.bool_]) -> float:
    higher, lower = confidences[right], np.sort(confidences[~right])
    if not len(higher) or not len(lower):
        return 0.5
    below = np.searchsorted(lower, higher, "left") + np.searchsorted(lower, higher, "right")
    return float(below.mean() / 2 / len(lower))
