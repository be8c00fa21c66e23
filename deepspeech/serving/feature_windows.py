"""From a signal that comes in pieces to the windows of features that the network takes, as in DeepSpeech's clients.

The samples after the last whole step, even if there are none, are filled up with zeros and make one more frame. Before
the first and after the last frame there are frames of zeros.
"""

import numpy as np
import numpy.typing as npt

from ..util.features import FeatureOptions
from ..util.front_ends.mfcc import Mfcc

Array = npt.NDArray[np.float32]


class FeatureWindows:
    """One signal. However it is cut into pieces, the windows are the same."""

    def __init__(self, mfcc: Mfcc, options: FeatureOptions, context: int) -> None:
        """Begin a signal; `context` is the number of frames on either side of each one."""
        self._mfcc = mfcc
        self._options = options
        self._context = context
        self._samples = np.zeros(0, np.float32)
        self._frames = self._padding()

    def feed(self, samples: Array) -> Array:
        """Take float32 [samples] in [-1, 1]; return the windows that are complete now, float32 [time, n_input]."""
        self._samples = np.concatenate([self._samples, samples])
        features = self._mfcc(self._samples)
        self._samples = self._samples[len(features) * self._options.step :]
        return self._windows(features)

    def finish(self) -> Array:
        """Return the windows that are left, float32 [time, n_input]."""
        missing = self._options.window - len(self._samples)
        last = self._mfcc(np.concatenate([self._samples, np.zeros(missing, np.float32)]))
        return self._windows(np.concatenate([last, self._padding()]))

    def _padding(self) -> Array:
        return np.zeros((self._context, self._options.coefficients), np.float32)

    def _windows(self, features: Array) -> Array:
        self._frames = np.concatenate([self._frames, features])
        windows = context_windows(self._frames, self._context)
        self._frames = self._frames[len(windows) :]
        return windows


def context_windows(frames: Array, context: int) -> Array:
    """Return each frame that has `context` neighbours on both sides, between them.

    `frames` are float32 [time, n], the windows float32 [time - 2 * context, (2 * context + 1) * n].
    """
    width = 2 * context + 1
    count = max(0, len(frames) - width + 1)
    if not count:
        return np.zeros((0, width * frames.shape[1]), np.float32)
    flat = np.ascontiguousarray(frames).reshape(-1)
    windows = np.lib.stride_tricks.sliding_window_view(flat, width * frames.shape[1])[:: frames.shape[1]]
    return np.ascontiguousarray(windows)
