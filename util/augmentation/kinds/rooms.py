"""Utterances as they sound in rooms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...audio import Samples
from ..augmentation import DECIBELS, Array, Augmentation, Occasion
from ..fourier import convolved
from ..levels import as_loud_as, ratio_of
from ..ranges import Range

PRIMES = (17, 19, 23, 29, 31)
"""The proportions of the delays of a reverb's echoes, chosen so that echoes seldom coincide."""

SHORTEST_DELAY = 16
"""Samples."""

QUIETEST_ECHO = 1e-3
"""As a share of the voice's magnitude, 60 dB: quieter echoes are left out."""

LONGEST_ROOM = 5.0
"""Seconds."""


@dataclass(frozen=True, kw_only=True)
class Reverb(Augmentation):
    """Five repeated echoes, as in DeepSpeech 0.9."""

    kind: ClassVar[str] = "reverb"
    summary: ClassVar[str] = "adds echoes that repeat every `delay` milliseconds, each `decay` decibels quieter"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"delay": (0.0, 1000.0), "decay": (0.5, 120.0)}
    delay: Range = Range(20.0)
    decay: Range = Range(10.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples] with the same peak as before."""
        delay, decay = occasion.draw(self.delay), ratio_of(-occasion.draw(self.decay))
        summed = array * np.float32(1 + len(PRIMES))
        for prime in PRIMES:
            step = max(SHORTEST_DELAY, int(delay * prime / PRIMES[0] * occasion.sample_rate / 1000))
            gain = decay
            for begin in range(step, len(array), step):
                if gain < QUIETEST_ECHO:
                    break
                summed[begin:] += np.float32(gain) * array[: len(array) - begin]
                gain *= decay
        return as_loud_as(array, summed)


@dataclass(frozen=True, kw_only=True)
class Room(Augmentation):
    """The convolution with an impulse response: recorded, or simulated as decaying noise (Polack, 1988)."""

    kind: ClassVar[str] = "room"
    summary: ClassVar[str] = (
        "puts the voice into a room: one whose impulse response is in `source` (an audio file, a folder or a CSV), or a"
        " simulated one, in which sound falls by 60 dB in `rt60` seconds, and all echoes together are `direct` decibels"
        " quieter than the voice"
    )
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"rt60": (0.01, LONGEST_ROOM), "direct": DECIBELS}
    source: str = ""
    rt60: Range = Range(0.4, spread=0.3)
    direct: Range = Range(5.0, spread=5.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples], in which the voice is not delayed."""
        if self.source:
            response = occasion.recording(self.source)
            response = response[int(np.abs(response).argmax()) :][: int(LONGEST_ROOM * occasion.sample_rate)]
        else:
            response = self._simulated(occasion)
        return as_loud_as(array, convolved(array, response))

    def _simulated(self, occasion: Occasion) -> Samples:
        rt60, direct = occasion.draw(self.rt60), occasion.draw(self.direct)
        time = np.arange(1, max(2, round(rt60 * occasion.sample_rate)), dtype=np.float32) / occasion.sample_rate
        echoes = occasion.random.standard_normal(len(time), np.float32) * np.exp(-3 * np.log(10) * time / rt60)
        echoes *= ratio_of(-direct) / np.sqrt(np.sum(echoes**2))
        return np.concatenate([[1], echoes]).astype(np.float32)
