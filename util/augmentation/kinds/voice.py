"""Other voices: other lengths of the vocal cords and the vocal tract."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ...audio import Samples
from ..augmentation import Array, Augmentation, Occasion
from ..levels import as_loud_as
from ..ranges import Range
from ..spectrogram import interpolated, log_envelope, samples_of, spectrogram
from .speed import FASTEST, SLOWEST, raised

LARGEST_LOG_GAIN = math.log(30)
"""The logarithm of the largest gain, or loss, of a magnitude: below a steep slope there is only rounding noise."""


@dataclass(frozen=True, kw_only=True)
class Voice(Augmentation):
    """A change of pitch by a phase vocoder, then of the vocal tract's length (Jaitly and Hinton, 2013)."""

    kind: ClassVar[str] = "voice"
    summary: ClassVar[str] = (
        "raises the pitch by the factor `pitch`, and the formants by `formants`, as a shorter vocal tract does; `speed`"
        " and `pitch` raise both by the same factor"
    )
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"pitch": (SLOWEST, FASTEST), "formants": (0.5, 2.0)}
    pitch: Range = Range(1.0, spread=0.3)
    formants: Range = Range(1.0, spread=0.15)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples] with the same peak as before."""
        pitch, formants = occasion.draw(self.pitch), occasion.draw(self.formants)
        return as_loud_as(array, another_voice(array, pitch, formants, occasion.sample_rate))


def another_voice(samples: Samples, pitch: float, formants: float, sample_rate: int) -> Samples:
    """Return samples whose harmonics are `pitch` times as high, and their envelope `formants` times, float32 [samples].

    By the source-filter model of speech (Fant, 1960): the source is that of the samples raised as a whole, completed
    above their highest frequency by that of the original samples; the filter is the moved envelope.
    """
    before = spectrogram(samples, sample_rate)
    after = spectrogram(raised(samples, pitch, sample_rate), sample_rate)
    envelope = log_envelope(before, sample_rate)
    wanted = _moved(envelope, formants)
    reached = np.arange(envelope.shape[1]) < pitch * envelope.shape[1]
    gains = np.where(reached, wanted - log_envelope(after, sample_rate), wanted - envelope)
    changed = np.where(reached, after, before) * np.exp(np.clip(gains, -LARGEST_LOG_GAIN, LARGEST_LOG_GAIN))
    return samples_of(changed, len(samples), sample_rate)


def _moved(envelope: npt.NDArray[np.float32], factor: float) -> npt.NDArray[np.float32]:
    """Return an envelope [frames, bins] whose bin k is bin k / factor of the given one, or at most its last."""
    bins = np.arange(envelope.shape[1])
    return interpolated(envelope.T, np.minimum(bins / factor, bins[-1])).T
