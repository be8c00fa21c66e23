"""Signals, and their augmented forms, for tests."""

from typing import Any

import numpy as np
import numpy.typing as npt

from deepspeech.util.augmentation.augmentation import Domain, Occasion
from deepspeech.util.augmentation.recordings import Recordings
from deepspeech.util.augmentation.registry import parse_augmentation

RATE = 16_000
SECONDS = 3.0
TIME = np.arange(int(SECONDS * RATE)) / RATE
TONE = (0.3 * np.sin(2 * np.pi * 440 * TIME)).astype(np.float32)
WHITE = np.random.default_rng(1).normal(0, 0.1, len(TIME)).astype(np.float32)
VOICES = [
    (0.2 * np.sin(2 * np.pi * (200 + 50 * index) * TIME[: RATE + index])).astype(np.float32) for index in range(9)
]
RATES = {Domain.SIGNAL: float(RATE), Domain.SPECTROGRAM: RATE / 128, Domain.FEATURES: 50.0}

Array = npt.NDArray[Any]


def occasion(seed: int = 0, clock: float = 0.0) -> Occasion:
    return Occasion(np.random.default_rng(seed), clock, RATE, RATES, len(VOICES), VOICES.__getitem__, Recordings(RATE))


def augmented(written: str, array: Array = TONE, seed: int = 0, clock: float = 0.0) -> Array:
    before = array.copy()
    changed = parse_augmentation(written).augment(array, occasion(seed, clock))
    np.testing.assert_array_equal(array, before)  # the input stays unchanged
    assert changed.dtype == array.dtype
    return changed
