"""The evidence that a row's transcript is wrong, and the order in which to check rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...corpus import Utterance

if TYPE_CHECKING:
    from ...figures.metrics import EditCounts


@dataclass(frozen=True, eq=False)
class RowFigures:
    """A trained model's figures for a row."""

    utterance: Utterance
    loss_per_label: float
    """The CTC loss of the transcript in nats, divided by the number of its labels."""
    longest_gap: float
    """Seconds of the longest stretch without a label, between the first and the last one of the forced alignment."""
    hypothesis: str
    """The model's transcription."""

    @property
    def edits(self) -> EditCounts:
        """The errors of the hypothesis if the transcript is right. Counting them needs the package rapidfuzz."""
        from ...figures.metrics import evaluate_transcript

        return evaluate_transcript(self.utterance.reference, self.hypothesis)


@dataclass(frozen=True, eq=False)
class RankedRow:
    """A row's figures, and how much they differ from those of the corpus; see `worst_first`."""

    figures: RowFigures
    suspicion: float


def worst_first(rows: Sequence[RowFigures]) -> list[RankedRow]:
    """Return rows in the order in which to check them.

    The figures have no common unit, so only their ranks count. With p(k), the share of rows whose k-th figure (loss per
    label, character error rate, longest gap) is at least as bad, the suspicion of a row is

        - sum over k of ln p(k)

    as in R. A. Fisher's method of combining tests (1925), with p as the probability of such a figure in a row of this
    corpus. The best figure adds 0. Speakers pause, so only the seconds of a gap beyond J. W. Tukey's outer fence (1977)
    count: the third quartile of the gaps plus three times their interquartile range. Rows of equal suspicion stay in
    their order.
    """
    if not rows:
        return []
    figures = [
        [row.loss_per_label for row in rows],
        [row.edits.cer for row in rows],
        _beyond_outer_fence(np.array([row.longest_gap for row in rows])),
    ]
    suspicions = -np.sum([np.log(_shares_at_least_as_large(np.asarray(values))) for values in figures], axis=0)
    order = np.argsort(-suspicions, kind="stable")
    return [RankedRow(rows[place], float(abs(suspicions[place]))) for place in order]


def _beyond_outer_fence(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the excess of values, float64 [rows], over the outer fence; 0 for most."""
    lower, upper = np.quantile(values, [0.25, 0.75])
    beyond: npt.NDArray[np.float64] = np.maximum(values - (upper + 3 * (upper - lower)), 0.0)
    return beyond


def _shares_at_least_as_large(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return for each value, float64 [rows], the share of values that are at least as large, in (0, 1]."""
    shares: npt.NDArray[np.float64] = 1 - np.searchsorted(np.sort(values), values, side="left") / len(values)
    return shares
