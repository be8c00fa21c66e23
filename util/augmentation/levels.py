"""Levels of signals: their power, and how loud one is beside another."""

from __future__ import annotations

import numpy as np

from ..audio import Samples

FULL_SCALE = 10 * np.log10(2)
"""dBFS of a peak of 1: 0 dBFS is the level of a sine of that peak, as DeepSpeech 0.9 counts."""

_SILENCE = 1e-10
"""A mean power below which samples are silent: -100 dB."""


def power(samples: Samples) -> float:
    """Return the mean square of the samples."""
    return float(np.square(samples).mean(dtype=np.float64)) if len(samples) else 0.0


def ratio_of(decibels: float) -> float:
    """Return by which factor samples grow that become louder by so many decibels."""
    return float(10 ** (decibels / 20))


def as_loud_as(before: Samples, after: Samples) -> Samples:
    """Return `after` with the largest magnitude that `before` has, float32 [samples]; silence stays as it is."""
    peak = float(np.abs(after).max(initial=0))
    return after * np.float32(np.abs(before).max() / peak) if peak else after


def mixed(samples: Samples, noise: Samples, snr: float) -> Samples:
    """Return samples, float32 [samples], with noise whose mean power is `snr` decibels below theirs.

    Where the sum leaves [-1, 1], all of it is made quieter. Silence gets no noise, and silent noise changes nothing.
    """
    speech_power, noise_power = power(samples), power(noise)
    if min(speech_power, noise_power) < _SILENCE:
        return samples
    gain = np.sqrt(speech_power / noise_power) / ratio_of(snr)
    summed: Samples = samples + np.float32(gain) * noise
    return summed / np.float32(max(1.0, summed.max(), -summed.min()))
