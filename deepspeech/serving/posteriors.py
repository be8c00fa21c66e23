"""The posteriors of a whole signal, and their logarithms."""

import numpy as np
import numpy.typing as npt

from .acoustics.loading import AcousticFeatures
from .engine import AcousticEngine

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.floating]

SMALLEST = 1e-38
"""Smaller posteriors are raised to this one before their logarithms are taken."""


def posteriors_of(signal: Array, features: AcousticFeatures, engine: AcousticEngine) -> Array:
    """Return the posteriors of float32 [samples] in [-1, 1] at the model's rate, float32 [rows, labels + 1].

    The last label is the blank. With `audio_ops` features, the samples after the last whole step make one more frame.
    """
    windows = features.windows()
    all_windows = np.concatenate([windows.feed(signal), windows.finish()])
    return engine.posteriors(all_windows)


def logarithms(posteriors: Floats) -> Floats:
    """Return the logarithms of posteriors, which are finite also for 0."""
    return np.log(np.maximum(posteriors, SMALLEST))
