"""Stacks frames of a front end into longer ones, so that a network has fewer steps to compute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Stacking:
    """Frame k of the network is the front end's frames k * skip to k * skip + frames - 1, one after the other.

    If the signal ends earlier, its last frame is repeated for the missing ones; so no frame is dropped.
    """

    frames: int = 1
    skip: int = 1

    def count(self, frames: int) -> int:
        """Return how many frames the network gets for a number of frames of the front end."""
        return -(-frames // self.skip)

    def __call__(self, features: Array) -> Array:
        """Return float32 [count, frames * coefficients] for float32 [frames of the front end, coefficients]."""
        if self.frames == self.skip == 1:
            return features
        stream = self.stream()
        return np.concatenate([stream.feed(features), stream.finish()])

    def stream(self) -> StackingStream:
        """Begin a signal whose frames arrive in pieces."""
        return StackingStream(self)


UNSTACKED = Stacking()
"""A frame of the network for each of the front end."""


class StackingStream:
    """Stacks the frames of one signal. The result does not depend on how they are divided into pieces."""

    def __init__(self, stacking: Stacking) -> None:
        self._stacking = stacking
        self._held: Array | None = None
        self._gap = 0
        """Coming frames to drop, between two frames of the network, if more are skipped than stacked."""
        self._last: Array | None = None

    def feed(self, features: Array) -> Array:
        """Take float32 [frames, coefficients]; return what is complete now, float32 [count, frames * coefficients]."""
        if len(features):
            self._last = features[-1:]
        held = features if self._held is None else np.concatenate([self._held, features])
        dropped = min(self._gap, len(held))
        self._gap -= dropped
        held = held[dropped:]
        size, skip = self._stacking.frames, self._stacking.skip
        count = max(0, (len(held) - size) // skip + 1)
        stacked = _stacked(held, count, size, skip)
        self._gap += max(0, count * skip - len(held))
        self._held = held[count * skip :]
        return stacked

    def finish(self) -> Array:
        """Return the remaining frames, float32 [count, frames * coefficients]."""
        size, skip = self._stacking.frames, self._stacking.skip
        held, last = self._held, self._last
        if held is None or last is None:
            return np.zeros((0, 0 if held is None else size * held.shape[1]), np.float32)
        filled = np.concatenate([held, np.repeat(last, size, axis=0)])
        return _stacked(filled, self._stacking.count(len(held)), size, skip)


def _stacked(features: Array, count: int, size: int, skip: int) -> Array:
    coefficients = features.shape[1]
    if not count:
        return np.zeros((0, size * coefficients), np.float32)
    flat = np.ascontiguousarray(features).reshape(-1)
    windows = np.lib.stride_tricks.sliding_window_view(flat, size * coefficients)[:: skip * coefficients]
    return np.ascontiguousarray(windows[:count])
