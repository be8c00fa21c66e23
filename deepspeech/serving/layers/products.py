"""Products with weights that lie in blocks of columns; see native_client/acoustic/kernels.h."""

from math import inf

import numpy as np

from ..._acoustic import Dense as DenseProduct
from ...network.description import Dense, Projection
from .layer import Array, Run, Weights

COLUMNS = 64
"""Columns of a block."""

UNITS_WORTH_THREADS = 128
"""Layers of at most this number of units are computed by the calling thread alone."""


class DenseLayer:
    """A dense layer, its weights in blocks."""

    def __init__(self, layer: Dense | Projection, inputs: int, weights: Weights) -> None:
        del inputs
        self._product = blocks_of(weights[f"{layer.name}/weights"], weights[f"{layer.name}/bias"])
        self._units = layer.units
        clip = layer.clip if isinstance(layer, Dense) else None
        self._low, self._high = (-inf, inf) if clip is None else (0.0, clip)

    def initial_state(self) -> None:
        """Return None, as there is no state."""

    def run(self, values: Array, state: None, how: Run) -> tuple[Array, None]:
        """Return the outputs [time, units] for values [time, inputs]."""
        shared_out = how.threads if self._units > UNITS_WORTH_THREADS else 1
        return self._product.run(values, self._low, self._high, shared_out)[:, : self._units], state


def blocks_of(weights: Array, bias: Array) -> DenseProduct:
    """Put weights [rows, columns] and a bias [columns] into blocks of columns, the last filled up with zeros."""
    rows, columns = weights.shape
    blocks = np.zeros((-(-columns // COLUMNS), rows, COLUMNS), np.float32)
    for number, block in enumerate(blocks):
        part = weights[:, number * COLUMNS : (number + 1) * COLUMNS]
        block[:, : part.shape[1]] = part
    filled_bias = np.zeros(len(blocks) * COLUMNS, np.float32)
    filled_bias[:columns] = bias
    return DenseProduct(blocks, filled_bias)
