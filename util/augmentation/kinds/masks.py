"""Masks over times, frequencies and single values (SpecAugment; Park et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..augmentation import FEATURES, SIGNAL, SPECTROGRAM, Array, Augmentation, Domain, Occasion, choice
from ..ranges import Range

MOST = 1000.0


@dataclass(frozen=True, kw_only=True)
class FrequencyMask(Augmentation):
    """Bands that are masked for the whole utterance."""

    kind: ClassVar[str] = "frequency_mask"
    summary: ClassVar[str] = (
        "masks `n` bands of `size` neighbouring frequencies: bins of 31 Hz of the spectrogram, or coefficients of the"
        " features, which are frequencies only of a front end without a cosine transform"
    )
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"n": (0.0, MOST), "size": (0.0, MOST)}
    domain: str = choice(SPECTROGRAM, FEATURES)
    n: Range = Range(3.0)
    size: Range = Range(2.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return an array of the same shape."""
        masked, fill = array.copy(), _fill(array, self.domain)
        for _ in range(occasion.draw_whole(self.n)):
            size = min(occasion.draw_whole(self.size), array.shape[1] - 1)
            begin = int(occasion.random.integers(array.shape[1] - size))
            masked[:, begin : begin + size] = fill[begin : begin + size]
        return masked


@dataclass(frozen=True, kw_only=True)
class TimeMask(Augmentation):
    """Pieces of time that are masked in all frequencies."""

    kind: ClassVar[str] = "time_mask"
    summary: ClassVar[str] = "masks `n` pieces of `size` milliseconds, each at most the share `most` of the utterance"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        "n": (0.0, MOST),
        "size": (0.0, 60_000.0),
        "most": (0.0, 1.0),
    }
    domain: str = choice(SPECTROGRAM, SIGNAL, FEATURES)
    n: Range = Range(3.0)
    size: Range = Range(10.0)
    most: float = 1.0

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return an array of the same shape."""
        masked, fill = array.copy(), _fill(array, self.domain)
        for _ in range(occasion.draw_whole(self.n)):
            size = round(occasion.draw(self.size) / 1000 * occasion.rates[Domain(self.domain)])
            size = min(max(1, size), int(self.most * len(array)), len(array) - 1)
            begin = int(occasion.random.integers(len(array) - size))
            masked[begin : begin + size] = fill
        return masked


@dataclass(frozen=True, kw_only=True)
class Dropout(Augmentation):
    """Single values that are masked."""

    kind: ClassVar[str] = "dropout"
    summary: ClassVar[str] = "masks each value with the probability `rate`"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"rate": (-1.0, 1.0)}
    domain: str = choice(SPECTROGRAM, SIGNAL, FEATURES)
    rate: Range = Range(0.05)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return an array of the same shape."""
        dropped = occasion.random.random(array.shape, np.float32) < occasion.draw(self.rate)
        return np.where(dropped, _fill(array, self.domain), array)


def _fill(array: Array, domain: str) -> Array:
    """Return the values of a mask, in the shape of one entry of the array: silence, or the mean of the features."""
    return array.mean(axis=0) if domain == FEATURES else np.zeros_like(array[0])
