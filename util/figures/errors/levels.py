"""How loud a recording is, how far its speech stands out from its noise, and how much silence is around it."""

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
"""The level that digital silence is given."""
SAMPLE_RATE = 16_000
"""Hz, at which levels are measured."""


@dataclass(frozen=True)
class Levels:
    """The levels of a recording, in decibels, and what they tell of its speech."""

    loudness: float
    """The root mean square of all samples; 0 is that of a square wave of full scale."""
    signal_to_noise: float
    """An estimate: how far the level of the loud frames lies above that of the quiet ones, see `levels`."""
    silence_around: float
    """Seconds of silence before and after the speech, together."""


def levels(samples: Samples, sample_rate: int) -> Levels:
    """Return the levels of a recording, float32 [samples] in [-1, 1].

    The signal-to-noise ratio is estimated from the power of frames of FRAME_SECONDS: it is the difference of the
    LOUD_PERCENTILE, taken for speech, and the QUIET_PERCENTILE, taken for what is heard in its pauses. Speech without
    pauses looks noisier than it is.
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
