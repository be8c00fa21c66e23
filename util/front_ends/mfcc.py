"""The features of `audio_ops` in NumPy, for serving: the computation of TensorFlow's ops AudioSpectrogram and Mfcc.

The ops: periodic Hann window, squared magnitudes of a Fourier transform of a power of two, 40 triangular filters evenly
spaced on the mel scale (1127 ln(1 + f/700)) from 20 Hz to half the sample rate over magnitudes, logarithm, and a
cosine transform (DCT-II). Results agree with theirs within 1e-4; `tests/serving/test_engine.py` compares them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..features import FeatureOptions

LOWEST_FREQUENCY = 20.0
"""Hz; where the first filter begins."""
FILTERS = 40
FLOOR = 1e-12
"""Filter outputs below this count as this, before the logarithm."""


class Mfcc:
    """Computes features of whole windows. Threads may share one."""

    def __init__(self, options: FeatureOptions) -> None:
        self._options = options
        self._window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(options.window) / options.window)
        self._filters = filters(options)
        self._cosines = cosines(options.coefficients)

    def __call__(self, samples: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return float32 [frames, coefficients] of float32 [samples] in [-1, 1], without an incomplete last window."""
        options = self._options
        if len(samples) < options.window:
            return np.zeros((0, options.coefficients), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(samples, options.window)[:: options.step]
        spectrum = np.fft.rfft(windows * self._window, options.fft_size)
        power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
        energies = np.sqrt(power.astype(np.float64)) @ self._filters
        features: npt.NDArray[np.float32] = (np.log(np.maximum(energies, FLOOR)) @ self._cosines).astype(np.float32)
        return features

    def stream(self) -> MfccStream:
        """Begin a signal that arrives in pieces."""
        return MfccStream(self, self._options)


class MfccStream:
    """The frames of one signal, as in DeepSpeech's clients; they do not depend on how it is divided into pieces.

    The samples after the last whole step, even if there are none, are padded with zeros and make one more frame.
    """

    def __init__(self, mfcc: Mfcc, options: FeatureOptions) -> None:
        self._mfcc = mfcc
        self._options = options
        self._samples = np.zeros(0, np.float32)

    def feed(self, samples: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Take float32 [samples] in [-1, 1]; return the frames that are complete now, [frames, coefficients]."""
        self._samples = np.concatenate([self._samples, samples])
        features = self._mfcc(self._samples)
        self._samples = self._samples[len(features) * self._options.step :]
        return features

    def finish(self) -> npt.NDArray[np.float32]:
        """Return the last frame, float32 [1, coefficients]."""
        missing = self._options.window - len(self._samples)
        return self._mfcc(np.concatenate([self._samples, np.zeros(missing, np.float32)]))


def mel_filters(
    frequencies: npt.NDArray[np.floating[Any]], lowest: float, highest: float, count: int
) -> npt.NDArray[np.float64]:
    """Return the weights of triangular filters, float64 [frequencies, count]; frequencies are in Hz.

    They are evenly spaced on the mel scale between `lowest` and `highest`. Each rises from its neighbour's centre to
    its own and falls to the next.
    """
    edges = np.linspace(_mel(lowest), _mel(highest), count + 2)
    mels = _mel(frequencies)[:, None]
    rising = (mels - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - mels) / (edges[2:] - edges[1:-1])
    weights: npt.NDArray[np.float64] = np.maximum(0, np.minimum(rising, falling))
    return weights


def filters(options: FeatureOptions) -> npt.NDArray[np.float64]:
    """Return the filters' weights for the magnitudes of a spectrum, float64 [bins, FILTERS]."""
    highest, bins = 0.5 * options.sample_rate, options.fft_size // 2 + 1
    bin_width = highest / (bins - 1)
    weights = mel_filters(np.arange(bins) * bin_width, LOWEST_FREQUENCY, highest, FILTERS)
    first, last = int(1.5 + LOWEST_FREQUENCY / bin_width), int(highest / bin_width)
    weights[:first] = weights[last + 1 :] = 0
    return weights


def cosines(coefficients: int) -> npt.NDArray[np.float64]:
    """Return the cosine transform, float64 [FILTERS, coefficients]."""
    order, place = np.arange(coefficients), np.arange(FILTERS)[:, None]
    transform: npt.NDArray[np.float64] = np.sqrt(2 / FILTERS) * np.cos(np.pi / FILTERS * order * (place + 0.5))
    return transform


def _mel(frequency: npt.ArrayLike) -> npt.NDArray[np.float64]:
    return 1127 * np.log1p(np.asarray(frequency) / 700)
