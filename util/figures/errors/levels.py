"""The loudness of a recording, its signal-to-noise ratio, and the silence around its speech."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...audio import Samples, read_audio
from ...errors import AudioError, StorageError
from ...parts import Part

FRAME_SECONDS = 0.02
QUIET_PERCENTILE = 10
LOUD_PERCENTILE = 95
SPEECH_DECIBELS = 20.0
"""Frames that are quieter than the LOUD_PERCENTILE by more than this are silence."""
LOWEST_DECIBELS = -100.0
"""The level assigned to digital silence."""
SAMPLE_RATE = 16_000
"""Hz; the sample rate at which levels are measured."""


@dataclass(frozen=True)
class Levels:
    """The levels of a recording, in decibels, and the silence around its speech."""

    loudness: float
    """The root mean square of all samples; 0 is the level of a full-scale square wave."""
    signal_to_noise: float
    """An estimate of the signal-to-noise ratio: the level of loud frames minus that of quiet frames, see `levels`."""
    silence_around: float
    """Seconds of silence before and after the speech, in total."""


def levels(samples: Samples, sample_rate: int) -> Levels:
    """Return the levels of a recording, float32 [samples] in [-1, 1].

    The signal-to-noise ratio is estimated from the power of frames of FRAME_SECONDS, as the difference between the
    LOUD_PERCENTILE, assumed to be speech, and the QUIET_PERCENTILE, assumed to be the noise in pauses. For speech
    without pauses the estimate is too low.
    """
    length = max(int(FRAME_SECONDS * sample_rate), 1)
    power = samples.astype(np.float64) ** 2
    frames = power[: len(power) // length * length].reshape(-1, length) if len(power) >= length else power[None]
    of_frames = _decibels(frames.mean(axis=1))
    quiet, loud = np.percentile(of_frames, [QUIET_PERCENTILE, LOUD_PERCENTILE])
    speech = of_frames >= loud - SPEECH_DECIBELS
    return Levels(
        loudness=float(_decibels(power.mean(keepdims=True))[0]),
        signal_to_noise=float(loud - quiet),
        silence_around=float(speech.argmax() + speech[::-1].argmax()) * FRAME_SECONDS,
    )


def levels_of_file(path: str, part: Part | None = None) -> Levels | None:
    """Return the levels of a recording on disk, or of a part of it; None if it cannot be read."""
    try:
        return levels(read_audio(path, SAMPLE_RATE, part), SAMPLE_RATE)
    except (AudioError, StorageError):
        return None


def _decibels(power: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return 10.0 * np.log10(np.maximum(power, 10 ** (LOWEST_DECIBELS / 10)))
