"""Utterances with lost pieces, cut ends, a shift in time, or silence before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...audio import Samples
from ..augmentation import Array, Augmentation, Occasion
from ..levels import FULL_SCALE, power, ratio_of
from ..ranges import Range
from .noise import piece_of_noise

LONGEST = 60_000.0
"""Milliseconds."""


@dataclass(frozen=True, kw_only=True)
class DropSamples(Augmentation):
    """Pieces cut out, as when a program reads a sound card too late."""

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
    summary: ClassVar[str] = "moves the utterance by `time` milliseconds: silence fills the gap, what leaves is lost"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"time": (-LONGEST, LONGEST)}
    time: Range = Range(0.0, spread=20.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples]."""
        by = round(occasion.draw(self.time) * occasion.sample_rate / 1000)
        shifted = np.zeros_like(array)
        if abs(by) < len(array):
            shifted[max(by, 0) : len(array) + min(by, 0)] = array[max(-by, 0) : len(array) - max(by, 0)]
        return shifted


@dataclass(frozen=True, kw_only=True)
class Trim(Augmentation):
    """Ends cut off by their level, as speech detectors do; consonants at the ends can be lost."""

    kind: ClassVar[str] = "trim"
    summary: ClassVar[str] = "cuts off both ends, as far as they are `below` decibels or more under the loudest sample"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"below": (0.0, 200.0)}
    below: Range = Range(20.0, spread=10.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [fewer samples], among them the loudest; each end has its own level."""
        levels = np.abs(array)
        first, last = (levels >= levels.max() * ratio_of(-occasion.draw(self.below)) for _ in range(2))
        return array[int(first.argmax()) : len(array) - int(last[::-1].argmax())]


@dataclass(frozen=True, kw_only=True)
class Silence(Augmentation):
    """Silence around the utterance: a network must have trained on silence to write nothing for it."""

    kind: ClassVar[str] = "silence"
    summary: ClassVar[str] = (
        "adds `before` milliseconds of silence before the utterance, and `after` milliseconds after it: pink or white"
        " noise at `dbfs`; below -95, 16 bits keep nothing of it"
    )
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        "before": (0.0, LONGEST),
        "after": (0.0, LONGEST),
        "dbfs": (-200.0, 0.0),
    }
    before: Range = Range(500.0, spread=500.0)
    after: Range = Range(500.0, spread=500.0)
    dbfs: Range = Range(-80.0, spread=40.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [more samples]."""
        before, after = (round(occasion.draw(each) * occasion.sample_rate / 1000) for each in (self.before, self.after))
        silence = self._silence(before + after, occasion)
        return np.concatenate([silence[:before], array, silence[before:]])

    def _silence(self, length: int, occasion: Occasion) -> Samples:
        """Return float32 [length], rounded to 16 bits."""
        color = ("pink", "white")[int(occasion.random.integers(2))]
        noise = piece_of_noise(color, length, occasion)
        level = ratio_of(occasion.draw(self.dbfs) - FULL_SCALE) / np.sqrt(power(noise) or 1)
        steps = np.round(noise * np.float32(level * 2**15))
        return (steps / 2**15).astype(np.float32)
