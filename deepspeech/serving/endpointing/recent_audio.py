"""The most recent audio of a signal that comes in pieces."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]


class RecentAudio:
    """The samples of a signal after some place. Places are counted in samples from the beginning of the signal."""

    def __init__(self) -> None:
        self._pieces: deque[Array] = deque()
        self._first = 0
        self.end = 0
        """The number of samples so far."""

    def append(self, samples: Array) -> None:
        """Take the next samples, float32 [samples]."""
        self._pieces.append(samples)
        self.end += len(samples)

    def forget_before(self, place: int) -> None:
        """Forget whole pieces of samples before a place."""
        while self._pieces and self._first + len(self._pieces[0]) <= place:
            self._first += len(self._pieces.popleft())

    def since(self, place: int) -> Array:
        """Return the samples from a place to the end, float32 [samples]."""
        return np.concatenate([np.zeros(0, np.float32), *self._pieces])[max(place - self._first, 0) :]
