"""Recordings of any length in parts that are transcribed one by one, cut where the recording is quietest."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike

import numpy as np
import numpy.typing as npt

from ..util.audio import read_audio_blocks

Array = npt.NDArray[np.float32]

LONGEST_SECONDS = 30.0
"""The length of the longest part; longer recordings are cut, which bounds the time and memory of the search."""
SHORTEST_SECONDS = 10.0
"""The length of the shortest part, except for the last part of a recording."""
QUIET_SECONDS = 0.4
"""A cut is in the middle of the stretch of this length with the least energy."""
STEP_SECONDS = 0.02
"""The length of the steps whose energies are compared."""


@dataclass(frozen=True)
class Part:
    """A part of a recording: float32 [samples] in [-1, 1] that begin at `start`, in seconds."""

    start: float
    samples: Array


def parts_of_file(path: str | PathLike[str], sample_rate: int) -> Iterator[Part]:
    """Yield the parts of a file of any format, at `sample_rate` Hz; raise AudioError if it cannot be read."""
    return parts_of_blocks(read_audio_blocks(path, sample_rate), sample_rate)


def parts_of_blocks(blocks: Iterable[Array], sample_rate: int) -> Iterator[Part]:
    """Yield the parts of a signal that comes in blocks, float32 [samples] in [-1, 1].

    An empty signal has one part without samples. At most one part and one block are held in memory.
    """
    longest = int(LONGEST_SECONDS * sample_rate)
    held = np.zeros(0, np.float32)
    start = 0
    for block in blocks:
        held = np.concatenate([held, block])
        while len(held) > longest:
            cut = quietest(held[:longest], sample_rate)
            yield Part(start / sample_rate, held[:cut])
            start += cut
            held = held[cut:]
    yield Part(start / sample_rate, held)


def quietest(samples: Array, sample_rate: int) -> int:
    """Return the index of the sample to cut a signal at, which is the quietest place after SHORTEST_SECONDS.

    `samples` are float32 [samples] in [-1, 1].
    """
    step = int(STEP_SECONDS * sample_rate)
    steps = len(samples) // step
    energies = np.square(samples[: steps * step].reshape(steps, step)).mean(axis=1)
    width = round(QUIET_SECONDS / STEP_SECONDS)
    first = round(SHORTEST_SECONDS / STEP_SECONDS)
    stretches = np.convolve(energies[first:], np.ones(width), "valid")
    return int((first + np.argmin(stretches) + width // 2) * step)
