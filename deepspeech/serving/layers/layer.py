"""What a layer of the engine is: it runs over the frames of several utterances at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Weights = Mapping[str, Array]


class Batch(NamedTuple):
    """Frames of utterances, float32 [sum of lengths, n], one utterance after the other."""

    rows: Array
    lengths: tuple[int, ...]
    """Frames of each utterance."""
    last: tuple[bool, ...]
    """Whether each utterance ends with these frames."""
    threads: int
    """The number of threads that products may be computed on."""

    @classmethod
    def of(cls, utterances: Sequence[Array], last: tuple[bool, ...], threads: int) -> Batch:
        """Return the batch of several utterances' frames, [time, n] each."""
        rows = utterances[0] if len(utterances) == 1 else np.concatenate(utterances)
        return cls(rows, tuple(map(len, utterances)), last, threads)

    def utterances(self) -> Iterator[Array]:
        """Yield the frames of each utterance, [time, n]."""
        for length, end in zip(self.lengths, accumulate(self.lengths), strict=True):
            yield self.rows[end - length : end]


class EngineLayer(Protocol):
    """A layer with its weights. Threads may share one: what it keeps between two runs is its state."""

    def initial_state(self) -> Any:
        """Return the state of an utterance before its first frame; None for a layer without a state."""

    def run(self, batch: Batch, states: Sequence[Any]) -> tuple[Batch, Sequence[Any]]:
        """Return the outputs that can be computed now that the frames of the batch are there.

        With them come the new states of the utterances; the old ones are not changed.
        """


class FrameLayer(ABC):
    """A layer whose outputs for a frame depend on nothing but that frame."""

    def initial_state(self) -> None:  # noqa: B027 - there is no state
        """Return None, as there is no state."""

    def run(self, batch: Batch, states: Sequence[None]) -> tuple[Batch, Sequence[None]]:
        """Return the outputs of all frames."""
        return batch._replace(rows=self.outputs(batch.rows, batch.threads)), states

    @abstractmethod
    def outputs(self, values: Array, threads: int) -> Array:
        """Return the outputs [rows, units] for values [rows, inputs]."""


class UtteranceLayer(ABC):
    """A layer that is computed for one utterance after the other."""

    def run(self, batch: Batch, states: Sequence[Any]) -> tuple[Batch, Sequence[Any]]:
        """Return the outputs and the states of each utterance."""
        results = [
            self.run_utterance(values, state, batch.threads, last=last)
            for values, state, last in zip(batch.utterances(), states, batch.last, strict=True)
        ]
        outputs = Batch.of([values for values, _ in results], batch.last, batch.threads)
        return outputs, [state for _, state in results]

    @abstractmethod
    def run_utterance(self, values: Array, state: Any, threads: int, *, last: bool) -> tuple[Array, Any]:
        """Return the outputs [rows, units] that can be computed with the frames [time, inputs], and the new state."""
