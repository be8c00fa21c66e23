"""Noise: generated, of other speakers, and of recordings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...audio import Samples
from ...errors import AudioError
from ..augmentation import DECIBELS, Array, Augmentation, Occasion, choice
from ..fourier import filtered
from ..levels import mixed, power
from ..ranges import Range

COLOURS = ("pink", "white", "babble")

MOST_LAYERS = 64.0

SEED = 1
"""The seed of the signals that are made once; the utterance and the epoch decide where a piece of them begins."""

NOISE_SAMPLES = 1 << 20
BABBLE_SAMPLES = 1 << 22
MOST_VOICES = 500

LOWEST_PINK = 1e-3
"""As a share of the sample rate: below this frequency the power of pink noise is constant."""


@dataclass(frozen=True, kw_only=True)
class Noise(Augmentation):
    """Noise that needs no recordings except the corpus: pieces of long signals that are made once."""

    kind: ClassVar[str] = "noise"
    summary: ClassVar[str] = (
        "adds noise `snr` decibels below the speech: `pink`, `white`, `babble` of `voices` that speak other utterances"
        " of the training set, or `any` of them"
    )
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"snr": DECIBELS, "voices": (1.0, MOST_LAYERS)}
    snr: Range = Range(15.0, spread=10.0)
    color: str = choice("any", *COLOURS)
    voices: Range = Range(5.0, spread=2.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples]."""
        color = COLOURS[occasion.random.integers(len(COLOURS))] if self.color == "any" else self.color
        pieces = occasion.draw_whole(self.voices) if color == "babble" else 1
        noise = sum(piece_of_noise(color, len(array), occasion) for _ in range(pieces))
        return mixed(array, np.asarray(noise), occasion.draw(self.snr))


@dataclass(frozen=True, kw_only=True)
class Overlay(Augmentation):
    """Recordings of noise, music or speech."""

    kind: ClassVar[str] = "overlay"
    summary: ClassVar[str] = (
        "adds `layers` recordings, `snr` decibels below the speech together, from `source`: an audio file, a folder of"
        " them, or a CSV with a column `wav_filename`"
    )
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"snr": DECIBELS, "layers": (1.0, MOST_LAYERS)}
    source: str
    snr: Range = Range(3.0)
    layers: Range = Range(1.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples]."""
        noise = np.zeros(len(array), np.float32)
        for _ in range(occasion.draw_whole(self.layers)):
            noise += _piece(occasion.recording(self.source), len(array), occasion.random)
        return mixed(array, noise, occasion.draw(self.snr))


def piece_of_noise(color: str, length: int, occasion: Occasion) -> Samples:
    """Return noise of one of `COLOURS`, float32 [length], from a random place of the signal that is made once."""
    made = occasion.recordings.made(color, lambda: _MAKERS[color](occasion))
    return _piece(made, length, occasion.random)


def pink(white: Samples) -> Samples:
    """Turn white noise, float32 [samples], into pink noise, whose power falls as 1 / frequency."""
    return filtered(white, lambda frequencies: 1 / np.sqrt(np.maximum(frequencies, LOWEST_PINK)))


def _white(_occasion: Occasion) -> Samples:
    return np.random.default_rng(SEED).standard_normal(NOISE_SAMPLES, np.float32)


def _babble(occasion: Occasion) -> Samples:
    """Return utterances of the corpus one after the other, equally loud; unreadable ones are skipped."""
    random = np.random.default_rng(SEED)
    voices, length = [np.zeros(1, np.float32)], 0
    for index in random.permutation(occasion.voices)[:MOST_VOICES]:
        with suppress(AudioError):
            voice = occasion.utterance(int(index))
            voices.append(voice / np.float32(np.sqrt(power(voice)) or 1))
            length += len(voice)
        if length > BABBLE_SAMPLES:
            break
    return np.concatenate(voices)


_MAKERS: Mapping[str, Callable[[Occasion], Samples]] = {
    "pink": lambda occasion: pink(_white(occasion)),
    "white": _white,
    "babble": _babble,
}


def _piece(samples: Samples, length: int, random: np.random.Generator) -> Samples:
    """Return `length` samples from a random place on; the first sample follows the last one."""
    begin = int(random.integers(len(samples)))
    piece = samples[begin : begin + length]
    return piece if len(piece) == length else np.resize(np.roll(samples, -begin), length)
