"""The states that one run of a stream passes to the next, as outputs and inputs of a graph."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from onnx import TensorProto, helper

from ...network.description import LSTM, Network

CELL, HIDDEN = "c", "h"
"""The parts of the state of an LSTM."""


class States(ABC):
    """The states of a graph's layers."""

    @abstractmethod
    def previous(self, owner: str, shape: Sequence[int]) -> str:
        """Return the name of a state before the run, float32 [batch, *shape], zeros before the first one."""

    @abstractmethod
    def add_new(self, previous: str, value: str) -> None:
        """Store the name of a state after the run, [batch, *shape]; its name before the run was `previous`."""

    @abstractmethod
    def finished(self, nodes: Sequence[Any]) -> list[Any]:
        """Return the operators of a graph, with those around them that split and join the states."""


class FlatStates(States):
    """One input, `previous_state` float32 [batch, size], and one output, `new_state`, that hold all states.

    If no layer has a state, because each row is computed separately, they are a number that never changes.
    """

    def __init__(self) -> None:
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._new: dict[str, str] = {}

    @property
    def size(self) -> int:
        """The size of an utterance's state, in numbers."""
        return sum(map(math.prod, self._shapes.values())) or 1

    def previous(self, owner: str, shape: Sequence[int]) -> str:
        """Return the name of a state before the run; every owner may have several."""
        name = f"previous_state/{len(self._shapes)}/{owner}"
        self._shapes[name] = tuple(shape)
        return name

    def add_new(self, previous: str, value: str) -> None:
        """Take the name of a state after the run."""
        self._new[previous] = value

    def finished(self, nodes: Sequence[Any]) -> list[Any]:
        """Return the operators with those that take states apart and put them together."""
        if not self._shapes:
            return [*nodes, helper.make_node("Identity", ["previous_state"], ["new_state"])]
        sizes = [math.prod(shape) for shape in self._shapes.values()]
        flat = [f"{name}/flat" for name in self._shapes]
        before = [helper.make_node("Split", ["previous_state"], flat, axis=1, split=sizes)]
        after, joined = [], [f"{name}/new" for name in self._shapes]
        for number, (name, shape) in enumerate(self._shapes.items()):
            before += _reshaped(flat[number], name, (0, *shape))
            after += _reshaped(self._new[name], joined[number], (0, sizes[number]))
        return [*before, *nodes, *after, helper.make_node("Concat", joined, ["new_state"], axis=1)]


class ClientStates(States):
    """The inputs and outputs of DeepSpeech's graphs: `previous_state_c/h` and `new_state_c/h`, only of LSTMs."""

    def __init__(self, network: Network) -> None:
        self._layers: list[LSTM] = list(network.recurrent_layers)
        self._new: dict[str, str] = {}

    @property
    def units(self) -> list[int]:
        """The units of the LSTMs, whose states are side by side."""
        return [layer.units for layer in self._layers]

    def previous(self, owner: str, shape: Sequence[int]) -> str:
        """Return the name of a state before the run; the owner is the layer's name and the part."""
        del shape
        layer, _, part = owner.rpartition("/")
        return self._names(part)[[each.name for each in self._layers].index(layer)]

    def add_new(self, previous: str, value: str) -> None:
        """Take the name of a state after the run."""
        self._new[previous] = value

    def finished(self, nodes: Sequence[Any]) -> list[Any]:
        """Return the operators with those that take states apart and put them together."""
        before, after = [], []
        for part in (CELL, HIDDEN):
            names = self._names(part)
            if len(names) > 1:
                before.append(helper.make_node("Split", [f"previous_state_{part}"], names, axis=1, split=self.units))
            new = [self._new[name] for name in names]
            after.append(helper.make_node("Concat", new, [f"new_state_{part}"], axis=1))
        return [*before, *nodes, *after]

    def _names(self, part: str) -> list[str]:
        """Return the names of a part of the states of all LSTMs."""
        name = f"previous_state_{part}"
        return [name] if len(self._layers) == 1 else [f"{name}/{number}" for number in range(len(self._layers))]


def _reshaped(values: str, output: str, shape: Sequence[int]) -> list[Any]:
    """Return the operators that reshape a value; in `shape`, 0 means the present size."""
    sizes = helper.make_tensor(f"{output}/shape_values", TensorProto.INT64, [len(shape)], list(shape))
    constant = helper.make_node("Constant", [], [f"{output}/shape"], value=sizes)
    return [constant, helper.make_node("Reshape", [values, f"{output}/shape"], [output])]
