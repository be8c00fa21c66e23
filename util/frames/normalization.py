"""Features of mean 0 and deviation 1: by the statistics of the training set, or by those of the signal itself.

With the mean M and the deviation D of a coefficient in the training set, `global` makes of a value x

    z = (x - M) / D

and `running` then uses the signal's values up to and including the current frame, as if P values of mean 0 and
deviation 1 had come before them. After n values z of a coefficient,

    m = Σz / (P + n)        v = (P + Σz²) / (P + n) - m²        y = (z - m) / sqrt(max(v, V))

It uses no later frame, so a stream and a whole recording are normalized in the same way. `utterance` uses the
statistics of the whole signal for every frame, with P = 0. This removes most of the difference between voices and
microphones, but nothing can be recognized before the signal ends. In stacked frames, all values of a coefficient count,
and all are normalized by the same m and v. `deepspeech.network.layers.normalization` computes the same in training.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

MEAN, DEVIATION = "features/mean", "features/deviation"
"""The names of the training set's statistics in checkpoints and files of weights."""

PRIOR_VALUES = 300
"""P: the number of values that the training set's statistics count as; three seconds of frames every 10 ms."""

SMALLEST_VARIANCE = 0.01
"""V: the least variance to divide by, as the variance becomes small after a long silence."""

SMALLEST_DEVIATION = 0.01
"""The least deviation of a coefficient, as one that never changes has a deviation of 0."""


@dataclass(frozen=True, eq=False)
class FeatureStatistics:
    """The mean and the deviation of each coefficient, float32 [coefficients]."""

    mean: Array
    deviation: Array

    @staticmethod
    def of(utterances: Iterable[Array]) -> FeatureStatistics:
        """Return the statistics of all frames of utterances, each float32 [frames, coefficients].

        Without frames, the mean is 0 and the deviation 1.
        """
        count, total, squares = 0, np.zeros(1), np.zeros(1)
        for features in utterances:
            values = features.astype(np.float64)
            count += len(values)
            total = total + values.sum(axis=0)
            squares = squares + np.square(values).sum(axis=0)
        if not count:
            return FeatureStatistics(np.zeros_like(total, np.float32), np.ones_like(total, np.float32))
        mean = total / count
        deviation = np.sqrt(np.maximum(squares / count - mean**2, SMALLEST_DEVIATION**2))
        return FeatureStatistics(mean.astype(np.float32), deviation.astype(np.float32))


class GlobalNormalization:
    """Normalizes by the statistics of the training set."""

    def __init__(self, statistics: FeatureStatistics) -> None:
        self._mean = statistics.mean
        self._deviation = statistics.deviation

    def __call__(self, frames: Array) -> Array:
        """Return float32 [frames, stacked * coefficients], normalized; each call goes on where the last one ended."""
        values = _by_coefficient(frames, len(self._mean))
        normalized: Array = ((values - self._mean) / self._deviation).reshape(frames.shape)
        return normalized


class RunningNormalization:
    """Normalizes one signal, whose frames arrive in pieces, by the statistics of its frames so far."""

    def __init__(self, statistics: FeatureStatistics) -> None:
        self._global = GlobalNormalization(statistics)
        self._coefficients = len(statistics.mean)
        self._count = 0
        self._total = np.zeros(self._coefficients)
        self._squares = np.zeros(self._coefficients)

    def __call__(self, frames: Array) -> Array:
        """Return float32 [frames, stacked * coefficients], normalized; each call goes on where the last one ended."""
        if not len(frames):
            return frames
        values = _by_coefficient(self._global(frames), self._coefficients).astype(np.float64)
        stacked = values.shape[1]
        counts = PRIOR_VALUES + self._count + stacked * np.arange(1, len(frames) + 1)[:, None]
        totals = self._total + np.cumsum(values.sum(axis=1), axis=0)
        squares = self._squares + np.cumsum(np.square(values).sum(axis=1), axis=0)
        self._count += stacked * len(frames)
        self._total, self._squares = totals[-1], squares[-1]
        mean = totals / counts
        variance = np.maximum((PRIOR_VALUES + squares) / counts - mean**2, SMALLEST_VARIANCE)
        normalized: Array = ((values - mean[:, None]) / np.sqrt(variance)[:, None]).astype(np.float32)
        return normalized.reshape(frames.shape)


class UtteranceNormalization:
    """Normalizes a whole signal by its own statistics."""

    def __init__(self, statistics: FeatureStatistics) -> None:
        self._global = GlobalNormalization(statistics)
        self._coefficients = len(statistics.mean)

    def __call__(self, frames: Array) -> Array:
        """Return float32 [frames, stacked * coefficients], normalized; the frames are those of the whole signal."""
        if not len(frames):
            return frames
        values = _by_coefficient(self._global(frames), self._coefficients).astype(np.float64)
        variance = np.maximum(values.var(axis=(0, 1)), SMALLEST_VARIANCE)
        normalized: Array = ((values - values.mean(axis=(0, 1))) / np.sqrt(variance)).astype(np.float32)
        return normalized.reshape(frames.shape)


def _by_coefficient(frames: Array, coefficients: int) -> Array:
    """Return stacked frames as [frames, stacked, coefficients]."""
    return frames.reshape(len(frames), frames.shape[1] // coefficients, coefficients)
