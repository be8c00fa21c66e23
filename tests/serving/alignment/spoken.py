"""Speech of espeak-ng with its marks, the times at which words begin."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import soxr

from deepspeech.util.importing.synthesis.espeak import Delivery, Synthesizer

EVENT_LIST_END, EVENT_WORD = 0, 1
RATE = 16_000


class Event(ctypes.Structure):
    """An espeak_EVENT of espeak-ng's speak_lib.h."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


@dataclass(frozen=True, eq=False)
class Spoken:
    """A sentence as int16 [samples] at RATE, and the seconds at which words begin, by their number in the sentence.

    espeak-ng joins some words to those before them ("of the"), and sets one mark for them together.
    """

    text: str
    samples: npt.NDArray[np.int16]
    begins: Mapping[int, float]


class MarkingSynthesizer(Synthesizer):
    """A synthesizer that keeps the words' marks."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._marks: dict[int, float] = {}

    def __enter__(self) -> MarkingSynthesizer:
        return self

    def say(self, text: str, delivery: Delivery) -> Spoken:
        """Return a spoken sentence."""
        self._marks = {}
        samples = soxr.resample(self.speak(text, delivery), self.sample_rate, RATE)
        number_at, position = {}, 1
        for number, word in enumerate(text.split()):
            number_at[position] = number
            position += len(word) + 1
        begins = {number_at[at]: seconds for at, seconds in self._marks.items() if at in number_at}
        return Spoken(text, samples, begins)

    def _receive(self, samples: Any, count: int, events: int | None) -> int:
        if events:
            event = ctypes.cast(events, ctypes.POINTER(Event))
            number = 0
            while event[number].type != EVENT_LIST_END:
                if event[number].type == EVENT_WORD:
                    self._marks.setdefault(event[number].text_position, event[number].audio_position / 1000)
                number += 1
        return super()._receive(samples, count, events)
