"""The values of single nodes of a speech model's graph, and the shape of its input."""

from math import prod

import numpy as np

from ...errors import GraphError
from .graph import Graph

LARGEST_WIDTH = 1 << 16
"""The most numbers that a frame, or the output of a layer, has in a graph that is read."""


def input_shape(graph: Graph) -> tuple[int, ...]:
    """Return the shape of `input_node`, [batch, n_steps, 2 * context + 1, coefficients]; -1 is an unknown dimension."""
    shape = graph.nodes["input_node"].shape
    if len(shape) != 4 or shape[2] < 1 or shape[2] % 2 == 0 or shape[3] < 1 or shape[2] * shape[3] > LARGEST_WIDTH:
        raise GraphError(f"its input_node has shape {list(shape)}, which is not that of windows of features")
    return shape


def text_of(graph: Graph, name: str) -> bytes:
    """Return the bytes of a constant; raise GraphError if it is missing or not text."""
    values = graph.constant(name)
    if values.dtype != object or not len(values):
        raise GraphError(f"its {name} is not text")
    text: bytes = values[0]
    return text


def integer_of(graph: Graph, name: str, default: int, allowed: range | None = None) -> int:
    """Return the number of a constant, or the default without it; raise GraphError for one that is not allowed."""
    chosen = default
    if name in graph.nodes:
        value = graph.constant(name) if prod(graph.shape_of(name)) == 1 else np.zeros(0)
        if value.dtype != np.int32 or value.size != 1:
            raise GraphError(f"its {name} is not a number")
        chosen = int(value.reshape(-1)[0].item())
    if allowed is not None and chosen not in allowed:
        raise GraphError(f"its {name} is {chosen}, not a number from {allowed.start} to {allowed.stop - 1}")
    return chosen
