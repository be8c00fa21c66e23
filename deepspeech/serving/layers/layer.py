"""What a layer of the engine is."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Weights = Mapping[str, Array]


class Run(NamedTuple):
    """How a layer is to be run: on how many threads, and whether the utterance ends with these frames."""

    threads: int
    last: bool


class EngineLayer(Protocol):
    """A layer with its weights. Threads may share one: what it keeps between two runs is its state."""

    def initial_state(self) -> Any:
        """Return the state before the first frame; None for a layer without a state."""

    def run(self, values: Array, state: Any, how: Run) -> tuple[Array, Any]:
        """Return the outputs [rows, units] that can be computed now that the frames [time, inputs] are there.

        With them comes the new state; the old one is not changed.
        """
