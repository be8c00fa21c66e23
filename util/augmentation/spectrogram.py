"""Spectrograms that samples can be made of again: short-time Fourier transforms with Hann windows, a quarter apart."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..audio import Samples

Spectrogram = npt.NDArray[np.complex64]
"""complex64 [frames, bins]; frame i is centred at sample i * `hop`, bin j at j * sample rate / `window_size` Hz."""

WINDOW_SECONDS = 0.032
OVERLAP = 4
"""Windows that each sample is in."""

_LEAST_WEIGHT = 1e-3


def window_size(sample_rate: int) -> int:
    """Return the samples of a window: the power of two nearest to 32 ms."""
    return 1 << max(4, round(math.log2(WINDOW_SECONDS * sample_rate)))


def hop(sample_rate: int) -> int:
    """Return the samples from the centre of a window to that of the next."""
    return window_size(sample_rate) // OVERLAP


def spectrogram(samples: Samples, sample_rate: int) -> Spectrogram:
    """Return the spectrogram of float32 [samples], of which there are zeros before the first and after the last."""
    size, step = window_size(sample_rate), hop(sample_rate)
    frames = 1 + -(-len(samples) // step)
    padded = np.zeros(size + (frames - 1) * step, np.float32)
    padded[size // 2 : size // 2 + len(samples)] = samples
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)[::step]
    return np.fft.rfft(windows * _hann(size)).astype(np.complex64, copy=False)


def samples_of(transformed: Spectrogram, length: int, sample_rate: int) -> Samples:
    """Return float32 [length] samples, whose spectrogram is the nearest to this one (Griffin and Lim, 1984)."""
    size, step = window_size(sample_rate), hop(sample_rate)
    window = _hann(size)
    windows = np.fft.irfft(transformed, size).astype(np.float32, copy=False) * window
    summed = _overlap_added(windows, step)
    weights = _overlap_added(np.broadcast_to(window**2, windows.shape), step)
    samples = (summed / np.maximum(weights, _LEAST_WEIGHT)).astype(np.float32, copy=False)
    return _fitted(samples[size // 2 :], length)


def stretched(samples: Samples, factor: float, sample_rate: int) -> Samples:
    """Return samples played `factor` times as fast at the same pitch, float32 [samples / factor].

    A phase vocoder (Flanagan and Golden, 1966; Dolson, 1986). Output frame i lies at t = i * factor input frames. With
    l = floor(t) and the input S, its magnitude in bin k is interpolated between |S[l, k]| and |S[l + 1, k]|, and its
    phase goes on from that of frame i - 1 as S does from l to l + 1:

        phase[i, k] = phase[i - 1, k] + arg(S[l + 1, k] / S[l, k])
    """
    length = max(1, round(len(samples) / factor))
    original = spectrogram(samples, sample_rate)
    places = np.minimum(np.arange(1 + -(-length // hop(sample_rate))) * factor, len(original) - 1)
    left = np.minimum(places.astype(np.intp), max(len(original) - 2, 0))
    right = np.minimum(left + 1, len(original) - 1)
    between = (places - left).astype(np.float32)[:, None]
    magnitudes, phases = np.abs(original), np.angle(original)
    magnitude = (1 - between) * magnitudes[left] + between * magnitudes[right]
    advance = phases[right] - phases[left]
    phase = phases[0] + np.concatenate([np.zeros_like(advance[:1]), np.cumsum(advance[:-1], axis=0, dtype=np.float64)])
    return samples_of((magnitude * np.exp(1j * phase)).astype(np.complex64), length, sample_rate)


def _hann(size: int) -> npt.NDArray[np.float32]:
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)).astype(np.float32)


def _overlap_added(windows: npt.NDArray[np.float32], step: int) -> npt.NDArray[np.float32]:
    """Return the sum, float32 [samples], of windows, float32 [windows, OVERLAP * step], that begin `step` apart."""
    summed = np.zeros((len(windows) + OVERLAP - 1, step), np.float32)
    for part in range(OVERLAP):
        summed[part : part + len(windows)] += windows[:, part * step : (part + 1) * step]
    return summed.ravel()


def _fitted(samples: npt.NDArray[np.float32], length: int) -> Samples:
    return np.pad(samples[:length], (0, max(0, length - len(samples))))
