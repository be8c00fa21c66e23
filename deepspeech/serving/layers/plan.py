"""Layers that native code computes one after the other in one call, during which other Python threads can run."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import cast

import numpy as np

from ..._acoustic import Plan, Step
from .layer import Array, Batch, EngineLayer


class PlannedLayer:
    """A layer that a plan can have, with its weights."""

    def __init__(self, *steps: Step) -> None:
        """Take the steps of the layer, in the order of computation."""
        self.steps = steps


class Planned:
    """Consecutive layers of a network. The state is that of their recurrences, float32 [size]."""

    def __init__(self, layers: Iterable[PlannedLayer]) -> None:
        """Take the layers; raise ValueError if the outputs of one do not fit the inputs of the next."""
        self._plan = Plan(list(chain.from_iterable(layer.steps for layer in layers)))

    def initial_state(self) -> Array:
        """Return the state before the first frame."""
        return np.zeros(self._plan.state_size, np.float32)

    def run(self, batch: Batch, states: Sequence[Array]) -> tuple[Batch, Sequence[Array]]:
        """Return the outputs of all frames, and the states after them. Raise ValueError for wrong shapes."""
        results = self._plan.run(batch.utterances, states, batch.threads)
        return batch._replace(utterances=[rows for rows, _ in results]), [state for _, state in results]


class SoftmaxLayer(PlannedLayer):
    """e^x of each number, divided by their sum over the frame."""

    def __init__(self, units: int) -> None:
        super().__init__(Step.softmax(units))


def in_plans(layers: Iterable[EngineLayer | PlannedLayer]) -> Iterator[EngineLayer]:
    """Yield the layers; consecutive ones that can be computed in one call become one."""
    for is_planned, group in groupby(layers, lambda layer: isinstance(layer, PlannedLayer)):
        if is_planned:
            yield Planned(cast(Iterable[PlannedLayer], group))
        else:
            yield from cast(Iterable[EngineLayer], group)
