"""Utterances with pieces that are lost, and utterances that begin earlier or later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..augmentation import Array, Augmentation, Occasion
from ..ranges import Range


@dataclass(frozen=True, kw_only=True)
class DropSamples(Augmentation):
    """Pieces cut out, as a sound card does that is not read in time."""

    kind: ClassVar[str] = "drop_samples"
    summary: ClassVar[str] = "cuts `n` pieces of `size` milliseconds out, so that the utterance becomes shorter"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"n": (0.0, 1000.0), "size": (0.0, 10_000.0)}
    n: Range = Range(3.0, spread=2.0)
    size: Range = Range(10.0, spread=10.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [fewer samples], at least one."""
        kept = np.ones(len(array), bool)
        for _ in range(occasion.draw_whole(self.n)):
            size = int(occasion.draw(self.size) * occasion.sample_rate / 1000)
            begin = int(occasion.random.integers(len(array)))
            kept[begin : begin + size] = False
        return array[kept] if kept.any() else array


@dataclass(frozen=True, kw_only=True)
class Shift(Augmentation):
    """A shift in time that keeps the length."""

    kind: ClassVar[str] = "shift"
    summary: ClassVar[str] = "moves the utterance by `time` milliseconds; silence comes in, what leaves is lost"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"time": (-60_000.0, 60_000.0)}
    time: Range = Range(0.0, spread=20.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples]."""
        by = round(occasion.draw(self.time) * occasion.sample_rate / 1000)
        shifted = np.zeros_like(array)
        if abs(by) < len(array):
            shifted[max(by, 0) : len(array) + min(by, 0)] = array[max(-by, 0) : len(array) - max(by, 0)]
        return shifted
