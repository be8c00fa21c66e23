"""Utterances played faster or slower."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import soxr

from ...audio import Samples
from ..augmentation import Array, Augmentation, Occasion
from ..ranges import Range
from ..spectrogram import stretched

SLOWEST, FASTEST = 0.25, 4.0

RATIOS = 1000
"""Speeds are rounded to fractions of this denominator, so that the resampler's ratio has small whole numbers."""


@dataclass(frozen=True, kw_only=True)
class Speed(Augmentation):
    """Resampling, like Kaldi's speed perturbation (Ko et al., 2015)."""

    kind: ClassVar[str] = "speed"
    summary: ClassVar[str] = "plays the recording `factor` times as fast, which also raises the pitch by this factor"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"factor": (SLOWEST, FASTEST)}
    factor: Range = Range(1.0, spread=0.1)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples / factor]."""
        return sped_up(array, occasion.draw(self.factor))


@dataclass(frozen=True, kw_only=True)
class Tempo(Augmentation):
    """A phase vocoder; see `spectrogram.stretched`."""

    kind: ClassVar[str] = "tempo"
    summary: ClassVar[str] = (
        "speaks `factor` times as fast at the same pitch, in `max_time` milliseconds at most unless that is negative"
    )
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"factor": (SLOWEST, FASTEST), "max_time": (-1.0, 1e9)}
    factor: Range = Range(1.1)
    max_time: float = -1.0

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples / factor]."""
        factor = occasion.draw(self.factor)
        if self.max_time > 0:
            factor = max(factor, min(FASTEST, 1000 * len(array) / (self.max_time * occasion.sample_rate)))
        return stretched(array, factor, occasion.sample_rate)


@dataclass(frozen=True, kw_only=True)
class Pitch(Augmentation):
    """Stretching by a phase vocoder, then resampling to the original length."""

    kind: ClassVar[str] = "pitch"
    summary: ClassVar[str] = "raises the voice by the factor `pitch`, and keeps its tempo"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"pitch": (SLOWEST, FASTEST)}
    pitch: Range = Range(1.075, spread=0.125)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples]."""
        return raised(array, occasion.draw(self.pitch), occasion.sample_rate)


def sped_up(samples: Samples, factor: float) -> Samples:
    """Return samples resampled so that they take 1 / `factor` of their time, float32 [samples / factor]."""
    faster: Samples = soxr.resample(samples, _rounded(factor) * RATIOS, RATIOS)
    return faster


def raised(samples: Samples, factor: float, sample_rate: int) -> Samples:
    """Return samples with all frequencies `factor` times as high and the same tempo, float32."""
    factor = _rounded(factor)
    higher = sped_up(stretched(samples, 1 / factor, sample_rate), factor)
    changed = samples.copy()
    changed[: len(higher)] = higher[: len(samples)]
    return changed


def _rounded(factor: float) -> float:
    return round(factor * RATIOS) / RATIOS
