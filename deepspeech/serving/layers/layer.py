"""What a layer of the engine is: it runs over the frames of several utterances at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import accumulate
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
    """The number of threads that products may be computed on."""

    @property
    def rows(self) -> Array:
        """The frames, float32 [sum of lengths, n], one utterance after the other."""
        return self.utterances[0] if len(self.utterances) == 1 else np.concatenate(self.utterances)

    def with_rows(self, rows: Array) -> Batch:
        """Return the batch with other frames, [sum of lengths, n], in their place."""
        lengths = list(map(len, self.utterances))
        ends = accumulate(lengths)
        return self._replace(utterances=[rows[end - length : end] for length, end in zip(lengths, ends, strict=True)])


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
        return batch.with_rows(self.outputs(batch.rows, batch.threads)), states

    @abstractmethod
    def outputs(self, values: Array, threads: int) -> Array:
        """Return the outputs [rows, units] for values [rows, inputs]."""


class UtteranceLayer(ABC):
    """A layer that is computed for one utterance after the other."""

    def run(self, batch: Batch, states: Sequence[Any]) -> tuple[Batch, Sequence[Any]]:
        """Return the outputs and the states of each utterance."""
        results = [
            self.run_utterance(values, state, batch.threads, last=last)
            for values, state, last in zip(batch.utterances, states, batch.last, strict=True)
        ]
        return batch._replace(utterances=[values for values, _ in results]), [state for _, state in results]

    @abstractmethod
    def run_utterance(self, values: Array, state: Any, threads: int, *, last: bool) -> tuple[Array, Any]:
        """Return the outputs [rows, units] that can be computed with the frames [time, inputs], and the new state."""
