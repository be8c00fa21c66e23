"""Values of single nodes of a speech model's graph, and the shape of its input."""

from collections.abc import Mapping
from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ...errors import GraphError

LARGEST_WIDTH = 1 << 16
"""The most numbers in a frame, or in the output of a layer, of a graph that is read."""


class HasShape(Protocol):
    """A node of a graph."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its value; -1 is an unknown dimension."""


class Constants(Protocol):
    """A graph of any format: its nodes and constants, by name."""

    @property
    def nodes(self) -> Mapping[str, HasShape]:
        """The nodes; any of them may be passed to `constant`."""

    def shape_of(self, name: str) -> tuple[int, ...]:
        """Return the shape that a constant declares; raise GraphError as `constant` does."""

    def constant(self, name: str) -> npt.NDArray[Any]:
        """Return the value of a constant; strings are an object array [n] of bytes. Raise GraphError if it is none."""


def input_shape(graph: Constants) -> tuple[int, ...]:
    """Return the shape of `input_node`, [batch, n_steps, 2 * context + 1, coefficients]; -1 is an unknown dimension.

    Raise GraphError if there is no such node, or if its shape is not that of windows of features.
    """
    if "input_node" not in graph.nodes:
        raise GraphError("it has no node input_node")
    shape = graph.nodes["input_node"].shape
    if len(shape) != 4 or shape[2] < 1 or shape[2] % 2 == 0 or shape[3] < 1 or shape[2] * shape[3] > LARGEST_WIDTH:
        raise GraphError(f"its input_node has shape {list(shape)}, which is not that of windows of features")
    return shape


def text_of(graph: Constants, name: str) -> bytes:
    """Return the bytes of a constant; raise GraphError if it is missing or not text."""
    values = graph.constant(name)
    if values.dtype != object or not len(values):
        raise GraphError(f"its {name} is not text")
    text: bytes = values[0]
    return text


def integer_of(graph: Constants, name: str, default: int, allowed: range | None = None) -> int:
    """Return the number of a constant, or the default if it is missing; raise GraphError if it is not allowed."""
    chosen = default
    if name in graph.nodes:
        value = graph.constant(name) if prod(graph.shape_of(name)) == 1 else np.zeros(0)
        if value.dtype != np.int32 or value.size != 1:
            raise GraphError(f"its {name} is not a number")
        chosen = int(value.reshape(-1)[0].item())
    if allowed is not None and chosen not in allowed:
        raise GraphError(f"its {name} is {chosen}, not a number from {allowed.start} to {allowed.stop - 1}")
    return chosen


def is_finite(values: npt.NDArray[Any]) -> bool:
    """Return whether all float32 values, of any shape, are finite; if so, their sum in double precision is, too."""
    with np.errstate(invalid="ignore"):  # such as the sum of infinities of both signs
        return bool(np.isfinite(values.sum(dtype=np.float64)))
