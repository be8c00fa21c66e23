"""Products with weights that lie in blocks of columns; see native_client/acoustic/kernels.h."""

from math import inf

import numpy as np

from ..._acoustic import Dense as DenseProduct
from ...network.description import Dense, Projection
from .layer import Array, FrameLayer, Weights

COLUMNS = 64
"""Columns of a block."""

UNITS_WORTH_THREADS = 128
"""Layers of at most this number of units are computed by the calling thread alone."""


class DenseLayer(FrameLayer):
    """A dense layer, its weights in blocks."""

    def __init__(self, layer: Dense | Projection, inputs: int, weights: Weights) -> None:
        del inputs
        self._product = blocks_of(weights[f"{layer.name}/weights"], weights[f"{layer.name}/bias"])
        self._units = layer.units
        clip = layer.clip if isinstance(layer, Dense) else None
        self._low, self._high = (-inf, inf) if clip is None else (0.0, clip)

    def outputs(self, values: Array, threads: int) -> Array:
        """Return the outputs [rows, units] for values [rows, inputs]."""
        shared_out = threads if self._units > UNITS_WORTH_THREADS else 1
        return self._product.run(values, self._low, self._high, shared_out)[:, : self._units]


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
