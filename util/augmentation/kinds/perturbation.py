"""Perturbed values: noise added or multiplied, and channels mixed with their neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..augmentation import FEATURES, SIGNAL, SPECTROGRAM, Array, Augmentation, Occasion, choice
from ..ranges import Range

MOST = 1e6


@dataclass(frozen=True, kw_only=True)
class Add(Augmentation):
    """Additive Gaussian noise."""

    kind: ClassVar[str] = "add"
    summary: ClassVar[str] = "adds noise of the standard deviation `stddev`, to the magnitudes of a spectrogram"
    domain: str = choice(FEATURES, SPECTROGRAM, SIGNAL)
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"stddev": (-MOST, MOST)}
    stddev: Range = Range(5.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return an array of the same shape."""
        noise = occasion.random.standard_normal(array.shape, np.float32) * np.float32(occasion.draw(self.stddev))
        if self.domain != SPECTROGRAM:
            changed: Array = array + noise
            return changed
        changed = np.maximum(np.abs(array) + noise, 0) * np.exp(1j * np.angle(array))
        return changed


@dataclass(frozen=True, kw_only=True)
class Multiply(Augmentation):
    """Multiplicative Gaussian noise."""

    kind: ClassVar[str] = "multiply"
    summary: ClassVar[str] = "multiplies each value with a number around 1 of the standard deviation `stddev`"
    domain: str = choice(FEATURES, SPECTROGRAM, SIGNAL)
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"stddev": (-MOST, MOST)}
    stddev: Range = Range(5.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return an array of the same shape."""
        noise = occasion.random.standard_normal(array.shape, np.float32)
        changed: Array = array * (1 + np.float32(occasion.draw(self.stddev)) * noise)
        return changed


@dataclass(frozen=True, kw_only=True)
class MixChannels(Augmentation):
    """Channels that leak into their neighbours."""

    kind: ClassVar[str] = "mix_channels"
    summary: ClassVar[str] = "takes the share `weight` of each coefficient from the two beside it"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"weight": (0.0, 1.0)}
    domain: str = FEATURES
    weight: Range = Range(0.2, spread=0.2)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return an array of the same shape; the outermost coefficients count as their own neighbours."""
        weight = np.float32(occasion.draw(self.weight))
        padded = np.pad(array, ((0, 0), (1, 1)), "edge")
        mixed: Array = (1 - weight) * array + weight / 2 * (padded[:, :-2] + padded[:, 2:])
        return mixed
