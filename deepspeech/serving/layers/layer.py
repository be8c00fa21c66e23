"""The interface of the engine's layers, which run over the frames of several utterances at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Weights = Mapping[str, Array]


class Batch(NamedTuple):
    """Frames of utterances that are computed together."""

    utterances: Sequence[Array]
    """The frames of each utterance, float32 [time, n]."""
    last: Sequence[bool]
    """Whether each utterance ends with these frames."""
    threads: int
    """The number of threads that may compute products."""

    @property
    def rows(self) -> Array:
        """The frames, float32 [sum of lengths, n], one utterance after the other."""
        return self.utterances[0] if len(self.utterances) == 1 else np.concatenate(self.utterances)


class EngineLayer(Protocol):
    """A layer with its weights. Threads may share one, as a state holds all that is kept between two runs."""

    def initial_state(self) -> Any:
        """Return the state of an utterance before its first frame; None for a layer without a state."""

    def run(self, batch: Batch, states: Sequence[Any]) -> tuple[Batch, Sequence[Any]]:
        """Return the outputs that can be computed with the frames of the batch, and the new states of the utterances.

        The old states are not changed.
        """


class Kernel(Protocol):
    """Native code that computes a layer for the frames of one utterance."""

    def initial_state(self) -> Any:
        """Return the state before the first frame."""

    def run(self, inputs: Array, state: Any, last: bool, threads: int) -> tuple[Array, Any]:
        """Return the outputs [rows, units] that can be computed with the frames [time, inputs], and the new state."""


class KernelLayer:
    """A layer that a kernel computes, one utterance after the other."""

    def __init__(self, kernel: Kernel) -> None:
        """Take the kernel, which has the weights."""
        self._kernel = kernel

    def initial_state(self) -> Any:
        """Return the state of an utterance before its first frame."""
        return self._kernel.initial_state()

    def run(self, batch: Batch, states: Sequence[Any]) -> tuple[Batch, Sequence[Any]]:
        """Return the outputs that can be computed, all if an utterance ends here, and the utterances' states."""
        results = [
            self._kernel.run(values, state, last, batch.threads)
            for values, state, last in zip(batch.utterances, states, batch.last, strict=True)
        ]
        return batch._replace(utterances=[values for values, _ in results]), [state for _, state in results]
