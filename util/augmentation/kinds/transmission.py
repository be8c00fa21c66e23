"""Utterances as they arrive: through telephones, codecs and other sample rates."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from ...audio import Samples
from ..augmentation import DECIBELS, Array, Augmentation, Occasion, choice
from ..fourier import filtered
from ..levels import as_loud_as
from ..ranges import Range
from ..spectrogram import of_length

BAND_ORDER = 4

LOWEST_OCTAVE = 62.5
"""Hz; an equalizer draws gains for this frequency and the octaves above; below it the gain is constant."""

CODEC_RATES = (8_000, 16_000, 24_000, 48_000)
"""Hz; the sample rates that every codec takes."""

MP3_DELAY = 1105
"""The delay in samples of an mp3 whose frames are too small to state it."""

TELEPHONE_RATE = 8_000
"""Hz; the sample rate of telephone codecs."""


@dataclass(frozen=True)
class _Format:
    """How libsndfile writes a codec, and its lowest and highest bits per second, if they can be chosen."""

    container: str
    subtype: str
    bitrates: tuple[float, float] | None = None
    compression: float = 1.0
    """The highest compression level that libsndfile takes, on its scale from 0 to 1."""
    telephone: bool = False


_FORMATS = {
    "opus": _Format("OGG", "OPUS", (6_000, 256_000)),
    "mp3": _Format("MP3", "MPEG_LAYER_III", (8_000, 160_000), 0.99),
    "ulaw": _Format("WAV", "ULAW", telephone=True),
    "gsm": _Format("WAV", "GSM610", telephone=True),
}


@dataclass(frozen=True, kw_only=True)
class Resample(Augmentation):
    """The bandwidth of another sample rate."""

    kind: ClassVar[str] = "resample"
    summary: ClassVar[str] = "resamples to `rate` Hz and back, which removes all frequencies above half of `rate`"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"rate": (1_000.0, 192_000.0)}
    rate: Range = Range(8000.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples]."""
        rate = occasion.draw_whole(self.rate)
        there = soxr.resample(array, occasion.sample_rate, rate)
        return of_length(soxr.resample(there, rate, occasion.sample_rate), len(array))


@dataclass(frozen=True, kw_only=True)
class Band(Augmentation):
    """A band-pass filter without delay."""

    kind: ClassVar[str] = "band"
    summary: ClassVar[str] = "keeps the frequencies between `low` and `high` Hz, as a telephone does"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"low": (1.0, 96_000.0), "high": (1.0, 96_000.0)}
    low: Range = Range(300.0)
    high: Range = Range(3400.0)

    def __post_init__(self) -> None:
        """Raise ValueError for limits that are out of bounds, or if the lower can be above the higher."""
        super().__post_init__()
        if any(self.low.limits(clock)[1] >= self.high.limits(clock)[0] for clock in (0, 1)):
            raise ValueError(f"low={self.low}: must be below high={self.high}")

    def check_rate(self, sample_rate: int) -> None:
        """Raise ValueError for a band that can lie above half the sample rate, where nothing remains of it."""
        if self.low.highest >= sample_rate / 2:
            raise ValueError(f"low={self.low}: must be below half the sample rate, {sample_rate / 2:g} Hz")

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples]. The gain at the frequency f is that of a Butterworth filter of BAND_ORDER:

        1 / sqrt(1 + ((f^2 - low high) / (f (high - low)))^(2 order))
        """
        high = min(occasion.draw(self.high) / occasion.sample_rate, 0.5)
        low = min(occasion.draw(self.low) / occasion.sample_rate, 0.9 * high)

        def gain(frequencies: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
            nonzero = np.maximum(frequencies, 1e-9)
            distances = (nonzero**2 - low * high) / (nonzero * (high - low))
            gains: npt.NDArray[np.floating[Any]] = 1 / np.sqrt(1 + distances ** (2 * BAND_ORDER))
            return gains

        return filtered(array, gain)


@dataclass(frozen=True, kw_only=True)
class Equalizer(Augmentation):
    """A filter without delay, with a separately drawn gain for each octave."""

    kind: ClassVar[str] = "equalizer"
    summary: ClassVar[str] = "changes each octave by its own `gain` in decibels, as another microphone would"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"gain": DECIBELS}
    gain: Range = Range(0.0, spread=6.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples] with the same peak as before.

        Between two octaves, the gain in decibels is linear in the logarithm of the frequency.
        """
        octaves = np.arange(1 + math.ceil(math.log2(occasion.sample_rate / 2 / LOWEST_OCTAVE)))
        decibels = [occasion.draw(self.gain) for _ in octaves]

        def gain(frequencies: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
            places = np.log2(np.maximum(frequencies * occasion.sample_rate / LOWEST_OCTAVE, 1.0))
            gains: npt.NDArray[np.floating[Any]] = 10 ** (np.interp(places, octaves, decibels) / 20)
            return gains

        return as_loud_as(array, filtered(array, gain))


@dataclass(frozen=True, kw_only=True)
class Codec(Augmentation):
    """Encoding and decoding by libsndfile, in memory."""

    kind: ClassVar[str] = "codec"
    summary: ClassVar[str] = (
        "encodes and decodes the samples: as `opus` or `mp3` with `bitrate` bits a second, as far as these allow it, or"
        " as the telephones' `ulaw` or `gsm`, at 8 kHz"
    )
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"bitrate": (3_200.0, 1e6)}
    bitrate: Range = Range(3200.0)
    encoding: str = choice("opus", *(name for name in _FORMATS if name != "opus"))

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples]."""
        bitrate, format_ = occasion.draw(self.bitrate), _FORMATS[self.encoding]
        rates = (TELEPHONE_RATE,) if format_.telephone else CODEC_RATES
        rate = next((each for each in rates if each >= occasion.sample_rate), rates[-1])
        sent = np.clip(soxr.resample(array, occasion.sample_rate, rate), -1, 1)
        received = soxr.resample(_round_trip(sent, rate, format_, bitrate), rate, occasion.sample_rate)
        return of_length(received, len(array))


def _round_trip(samples: Samples, rate: int, format_: _Format, bitrate: float) -> Samples:
    """Encode and decode samples, and return the result, float32 [about as many samples]."""
    settings: dict[str, object] = {"bitrate_mode": "CONSTANT"} if format_.container == "MP3" else {}
    if format_.bitrates:
        lowest, highest = format_.bitrates
        settings["compression_level"] = float(np.clip((highest - bitrate) / (highest - lowest), 0, format_.compression))
    encoded = io.BytesIO()
    soundfile.write(encoded, samples, rate, format=format_.container, subtype=format_.subtype, **settings)
    encoded.seek(0)
    decoded: Samples = soundfile.read(encoded, dtype="float32")[0]
    late = format_.container == "MP3" and len(decoded) > len(samples)
    return decoded[MP3_DELAY:] if late else decoded
