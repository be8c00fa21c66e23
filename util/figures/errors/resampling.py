"""Confidence intervals of error rates, and significance of their differences, by resampling utterances or speakers.

Sources: Bisani and Ney, "Bootstrap estimates for confidence intervals in ASR performance evaluation", ICASSP 2004, for
the intervals; Gillick and Cox, "Some statistical issues in the comparison of speech recognition algorithms", ICASSP
1989, for the comparison by matched pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
RESAMPLES = 1_000
EXCHANGES = 10_000
"""The number of times that the signs of all differences are drawn for a test of significance."""
FEWEST_SPEAKERS = 6
"""With fewer speakers than this, utterances are drawn, as draws of speakers say too little.

For example, if one model is better for each of five speakers, this happens by chance in 2 of 2^5 cases, which is not
significant.
"""

_DRAWN_AT_ONCE = 1 << 22
_SEED = 1

Counts = npt.NDArray[np.float64]
"""float64 [utterances, columns]: errors and lengths."""
Units = npt.NDArray[np.int64]
"""int64 [utterances]: each utterance's unit, from 0; the utterances of a unit are drawn together."""


@dataclass(frozen=True)
class Interval:
    """The range of a figure at the level of CONFIDENCE."""

    low: float
    high: float


def resampling_units(speakers: Sequence[str]) -> tuple[Units, bool]:
    """Return the units to draw for the utterances of these speakers, and whether they are speakers.

    An utterance without a speaker, "", is a unit by itself. With fewer than FEWEST_SPEAKERS, so is every utterance.
    """
    if len(set(speakers) - {""}) < FEWEST_SPEAKERS:
        return np.arange(len(speakers)), False
    names = [speaker or f"\0{number}" for number, speaker in enumerate(speakers)]
    return np.unique(names, return_inverse=True)[1].astype(np.int64), True


def rate_intervals(counts: Counts, units: Units) -> list[Interval]:
    """Return the percentile interval of each rate: of column 0 over column 1, of 2 over 3, and so on."""
    sums = _resampled_sums(counts, units)
    return [_interval(_rates(sums[:, column], sums[:, column + 1])) for column in range(0, counts.shape[1], 2)]


def difference_interval(first: Counts, second: Counts, units: Units) -> Interval:
    """Return the interval of the second system's rate minus the first's; each draw takes the same utterances for both.

    `first` and `second` are float64 [utterances, 2]: errors and lengths.
    """
    sums = _resampled_sums(np.concatenate([first, second], axis=1), units)
    return _interval(_rates(sums[:, 2], sums[:, 3]) - _rates(sums[:, 0], sums[:, 1]))


def significance(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64], units: Units) -> float:
    """Return the probability of so large a difference between the errors, float64 [utterances], by chance alone.

    This is a two-sided test of matched pairs, the errors of the two systems in a unit: if the systems are equally good,
    each pair's difference has either sign with the same probability. Signs are drawn EXCHANGES times, because a normal
    distribution does not fit few utterances. Return 1 if no unit differs.
    """
    differences = np.bincount(units, weights=second - first)
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    random = np.random.default_rng(_SEED)
    observed = abs(differences.sum())
    as_large, at_once = 0, max(_DRAWN_AT_ONCE // len(differences), 1)
    for begin in range(0, EXCHANGES, at_once):
        signs = random.integers(0, 2, (min(at_once, EXCHANGES - begin), len(differences)), dtype=np.int8)
        sums = (2.0 * signs - 1) @ differences
        as_large += int(np.count_nonzero(np.abs(sums) >= observed - 1e-9))
    return (as_large + 1) / (EXCHANGES + 1)


def _resampled_sums(counts: Counts, units: Units) -> Counts:
    """Return the sums of the columns in each draw, with repetition, of all units, float64 [RESAMPLES, columns]."""
    of_units = np.stack([np.bincount(units, weights=column) for column in counts.T], axis=1)
    random = np.random.default_rng(_SEED)
    number = len(of_units)
    sums = np.empty((RESAMPLES, counts.shape[1]))
    for each in sums:
        drawn = np.bincount(random.integers(0, number, number, np.int32), minlength=number)
        each[:] = drawn @ of_units
    return sums


def _rates(errors: npt.NDArray[np.float64], lengths: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return errors / np.maximum(lengths, 1)


def _interval(values: npt.NDArray[np.float64]) -> Interval:
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(values, [tail, 100 - tail])
    return Interval(float(low), float(high))
