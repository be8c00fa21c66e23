"""The matrices of front ends: the computation of `deepspeech.util.front_ends`, except for squares and logarithms.

Removal of the mean, preemphasis, the window and the Fourier transform are linear, so one matrix does them all.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...util.features import FeatureOptions
from ...util.front_ends.fbank import HIGHEST_FREQUENCY, LOWEST_FREQUENCY
from ...util.front_ends.mfcc import mel_filters

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
    return _fourier(features, features.fft_size // 2) @ (hann[:, None] ** POVEY_POWER * emphasized)


def fbank_filters(features: FeatureOptions) -> Array:
    """Return Kaldi's triangular filters, [bins, coefficients], for the power spectrum."""
    frequencies = np.arange(features.fft_size // 2) * features.sample_rate / features.fft_size
    highest = features.sample_rate / 2 + HIGHEST_FREQUENCY
    return mel_filters(frequencies, LOWEST_FREQUENCY, highest, features.coefficients)


def mfcc_transform(features: FeatureOptions) -> Array:
    """Return the matrix of the spectrum of TensorFlow's windows, [2 * bins, window], as above."""
    size = features.window
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    return _fourier(features, features.fft_size // 2 + 1) * hann


def _fourier(features: FeatureOptions, bins: int) -> Array:
    """Return the real and the imaginary parts of the windows' Fourier transform, [2 * bins, window]."""
    angles = -2 * math.pi * np.outer(np.arange(bins), np.arange(features.window)) / features.fft_size
    return np.concatenate([np.cos(angles), np.sin(angles)])
