"""The matrices of front ends: the computation of `deepspeech.util.front_ends`, except for squares and logarithms.

Removal of the mean, preemphasis, the window and the Fourier transform are linear, so one matrix does them all.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...util.features import FeatureOptions
from ...util.front_ends.fbank import HIGHEST_FREQUENCY, LOWEST_FREQUENCY
from ...util.front_ends.mfcc import cosines, filters

Array = npt.NDArray[np.float64]

PREEMPHASIS = 0.97
POVEY_POWER = 0.85

FBANK_FLOOR = float(np.finfo(np.float32).eps)
"""The lowest energy before the logarithm; lower energies are raised to it."""


def fbank_transform(features: FeatureOptions) -> Array:
    """Return the matrix of the spectrum of Kaldi's windows, [2 * bins, window]: real parts, then imaginary parts."""
    size = features.window
    without_mean = np.eye(size) - 1 / size
    emphasized = without_mean.copy()
    emphasized[1:] -= PREEMPHASIS * without_mean[:-1]
    emphasized[0] *= 1 - PREEMPHASIS
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / (size - 1))
    return _fourier(size, _fft_size(size) // 2) @ (hann[:, None] ** POVEY_POWER * emphasized)


def fbank_filters(features: FeatureOptions) -> Array:
    """Return Kaldi's triangular filters, [bins, coefficients], for the power spectrum."""
    fft_size = _fft_size(features.window)
    highest = features.sample_rate / 2 + HIGHEST_FREQUENCY if HIGHEST_FREQUENCY <= 0 else HIGHEST_FREQUENCY
    edges = np.linspace(_mel(LOWEST_FREQUENCY), _mel(highest), features.coefficients + 2)
    bins = _mel(np.arange(fft_size // 2) * features.sample_rate / fft_size)[:, None]
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    weights: Array = np.maximum(0, np.minimum(rising, falling))
    return weights


def mfcc_transform(features: FeatureOptions) -> Array:
    """Return the matrix of the spectrum of TensorFlow's windows, [2 * bins, window], as above."""
    size = features.window
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    return _fourier(size, _fft_size(size) // 2 + 1) * hann


def mfcc_filters(features: FeatureOptions) -> Array:
    """Return TensorFlow's triangular filters, [bins, filters], for the magnitudes."""
    return filters(features.sample_rate, _fft_size(features.window) // 2 + 1)


def mfcc_cosines(features: FeatureOptions) -> Array:
    """Return TensorFlow's cosine transform, [filters, coefficients]."""
    return cosines(features.coefficients)


def _fourier(size: int, bins: int) -> Array:
    """Return the real and the imaginary parts of the Fourier transform, [2 * bins, size], of windows of a size."""
    angles = -2 * math.pi * np.outer(np.arange(bins), np.arange(size)) / _fft_size(size)
    return np.concatenate([np.cos(angles), np.sin(angles)])


def _fft_size(window: int) -> int:
    return 1 << (window - 1).bit_length()


def _mel(frequency: npt.ArrayLike) -> Array:
    return np.asarray(1127 * np.log1p(np.asarray(frequency, np.float64) / 700))
