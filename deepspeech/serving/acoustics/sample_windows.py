"""Unchanged samples, for models that compute their features themselves."""

from __future__ import annotations

import numpy as np

from ..layers.layer import Array


class SampleFeatures:
    """The input of models that compute their features themselves."""

    def windows(self) -> SampleWindows:
        """Begin a signal."""
        return SampleWindows()

    def windows_of(self, signal: Array) -> Array:
        """Return float32 [samples] as [samples, 1]."""
        return self.windows().feed(signal)


class SampleWindows:
    """One signal, each sample a window of one number."""

    def feed(self, samples: Array) -> Array:
        """Take float32 [samples] in [-1, 1], and return them as [samples, 1]."""
        return np.asarray(samples, np.float32)[:, None]

    def finish(self) -> Array:
        """Return nothing more, float32 [0, 1]."""
        return np.zeros((0, 1), np.float32)
