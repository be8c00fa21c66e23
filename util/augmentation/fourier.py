"""Filters of whole signals by Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..audio import Samples

_PIECE = 4096
"""Lengths are rounded up to multiples of this, as transforms are slow for lengths with large prime factors."""

Response = Callable[[npt.NDArray[np.floating[Any]]], npt.NDArray[np.floating[Any]]]


def filtered(samples: Samples, response: Response) -> Samples:
    """Return samples in which each frequency is multiplied by its `response`, float32 [samples].

    `response` takes the frequencies in units of the sample rate, float64 [frequencies], from 0 to 0.5.
    """
    length = _rounded(len(samples))
    spectrum = np.fft.rfft(samples, length)
    spectrum *= response(np.fft.rfftfreq(length))
    return np.fft.irfft(spectrum, length)[: len(samples)].astype(np.float32, copy=False)


def convolved(samples: Samples, response: Samples) -> Samples:
    """Return the convolution of samples with an impulse response, cut to the samples' length, float32."""
    length = _rounded(len(samples) + len(response))
    spectrum = np.fft.rfft(samples, length) * np.fft.rfft(response, length)
    return np.fft.irfft(spectrum, length)[: len(samples)].astype(np.float32, copy=False)


def _rounded(length: int) -> int:
    return -(-length // _PIECE) * _PIECE
