"""Levels of signals: their power, and their ratio."""

from __future__ import annotations

import numpy as np

from ..audio import Samples

FULL_SCALE = 10 * np.log10(2)
"""dBFS of a peak of 1: as in DeepSpeech 0.9, 0 dBFS is the level of a sine with that peak."""

_SILENCE = 1e-10
"""A mean power below which samples are silent: -100 dB."""


def power(samples: Samples) -> float:
    """Return the mean square of the samples."""
    return float(np.square(samples).mean(dtype=np.float64)) if len(samples) else 0.0


def ratio_of(decibels: float) -> float:
    """Return the factor for the samples that corresponds to a gain in decibels."""
    return float(10 ** (decibels / 20))


def as_loud_as(before: Samples, after: Samples) -> Samples:
    """Return `after` scaled to the peak of `before`, float32 [samples]; silence stays unchanged."""
    peak = float(np.abs(after).max(initial=0))
    return after * np.float32(np.abs(before).max() / peak) if peak else after


def mixed(samples: Samples, noise: Samples, snr: float) -> Samples:
    """Return samples, float32 [samples], with noise whose mean power is `snr` decibels below theirs.

    If the sum leaves [-1, 1], all of it is made quieter. Silence gets no noise, and silent noise changes nothing.
    """
    speech_power, noise_power = power(samples), power(noise)
    if min(speech_power, noise_power) < _SILENCE:
        return samples
    gain = np.sqrt(speech_power / noise_power) / ratio_of(snr)
    summed: Samples = samples + np.float32(gain) * noise
    return summed / np.float32(max(1.0, summed.max(), -summed.min()))
