"""Invertible spectrograms: short-time Fourier transforms with Hann windows, a quarter of a window apart."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..audio import Samples

Spectrogram = npt.NDArray[np.complex64]
"""complex64 [frames, bins]; frame i is centred at sample i * `hop`, bin j at j * sample rate / `window_size` Hz."""

WINDOW_SECONDS = 0.032
OVERLAP = 4
"""The number of windows that contain each sample."""

_ENVELOPE_SECONDS = 0.003
"""Seconds of the cepstrum that make the envelope: less than a period of the voice, so they contain no harmonics."""

_ENVELOPE_ROUNDS = 4

_LEAST_MAGNITUDE = 1e-5
"""As a share of the largest magnitude: smaller ones count as this, so that their logarithm is bounded."""

_TINY = 1e-30

_LEAST_WEIGHT = 1e-3


def window_size(sample_rate: int) -> int:
    """Return the number of samples in a window: the power of two nearest to 32 ms."""
    return 1 << max(4, round(math.log2(WINDOW_SECONDS * sample_rate)))


def hop(sample_rate: int) -> int:
    """Return the distance in samples between the centres of neighbouring windows."""
    return window_size(sample_rate) // OVERLAP


def spectrogram(samples: Samples, sample_rate: int) -> Spectrogram:
    """Return the spectrogram of float32 [samples], with zeros before the first and after the last."""
    size, step = window_size(sample_rate), hop(sample_rate)
    frames = 1 + -(-len(samples) // step)
    padded = np.zeros(size + (frames - 1) * step, np.float32)
    padded[size // 2 : size // 2 + len(samples)] = samples
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)[::step]
    return np.fft.rfft(windows * _hann(size)).astype(np.complex64, copy=False)


def samples_of(transformed: Spectrogram, length: int, sample_rate: int) -> Samples:
    """Return the samples, float32 [length], whose spectrogram is nearest to this one (Griffin and Lim, 1984)."""
    size, step = window_size(sample_rate), hop(sample_rate)
    window = _hann(size)
    windows = np.fft.irfft(transformed, size).astype(np.float32, copy=False) * window
    summed = _overlap_added(windows, step)
    weights = _overlap_added(np.broadcast_to(window**2, windows.shape), step)
    samples = (summed / np.maximum(weights, _LEAST_WEIGHT)).astype(np.float32, copy=False)
    return of_length(samples[size // 2 :], length)


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
    magnitude, phases = interpolated(np.abs(original), places), np.angle(original)
    advance = phases[right] - phases[left]
    phase = phases[0] + np.concatenate([np.zeros_like(advance[:1]), np.cumsum(advance[:-1], axis=0, dtype=np.float64)])
    return samples_of((magnitude * np.exp(1j * phase)).astype(np.complex64), length, sample_rate)


def of_length(samples: Samples, length: int) -> Samples:
    """Return samples cut to a length, or continued to it with zeros, float32 [length]."""
    return np.pad(samples[:length], (0, max(0, length - len(samples))))


def interpolated(rows: npt.NDArray[np.float32], places: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Interpolate linearly between rows, at places from 0 to the last row, float32 [places, ...]."""
    left = places.astype(np.intp)
    right = np.minimum(left + 1, len(rows) - 1)
    between = (places - left).astype(np.float32)[:, None]
    values: npt.NDArray[np.float32] = (1 - between) * rows[left] + between * rows[right]
    return values


def log_envelope(transformed: Spectrogram, sample_rate: int) -> npt.NDArray[np.float32]:
    """Return the logarithm of the magnitudes' envelope: formants without harmonics, float32 [frames, bins].

    The true envelope (Imai and Abe, 1979): the beginning of the cepstrum gives a smooth spectrum. Where it is above the
    magnitudes, it replaces them. Repeated, this brings the envelope onto the harmonics, not between them.
    """
    magnitudes = np.abs(transformed)
    envelope = logarithms = np.log(np.maximum(magnitudes, max(_LEAST_MAGNITUDE * magnitudes.max(), _TINY)))
    lifter = _lifter(round(_ENVELOPE_SECONDS * sample_rate), window_size(sample_rate))
    for _ in range(_ENVELOPE_ROUNDS):
        envelope = np.fft.rfft(np.fft.irfft(np.maximum(logarithms, envelope)) * lifter).real
    return envelope.astype(np.float32, copy=False)


def _lifter(kept: int, size: int) -> npt.NDArray[np.float32]:
    """Return the weights of a cepstrum, float32 [size]: 1 for the first half of those `kept`, then decreasing."""
    lifter = np.zeros(size, np.float32)
    lifter[:kept] = 0.5 + 0.5 * np.cos(np.pi * np.maximum(2 * np.arange(kept) / kept - 1, 0))
    lifter[1 - kept :] = lifter[kept - 1 : 0 : -1]
    return lifter


def _hann(size: int) -> npt.NDArray[np.float32]:
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)).astype(np.float32)


def _overlap_added(windows: npt.NDArray[np.float32], step: int) -> npt.NDArray[np.float32]:
    """Return the sum, float32 [samples], of windows, float32 [windows, OVERLAP * step], that begin `step` apart."""
    summed = np.zeros((len(windows) + OVERLAP - 1, step), np.float32)
    for part in range(OVERLAP):
        summed[part : part + len(windows)] += windows[:, part * step : (part + 1) * step]
    return summed.ravel()
