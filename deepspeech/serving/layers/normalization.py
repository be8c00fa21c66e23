"""Layer normalization."""

import numpy as np

from ...network.description import NORMALIZATION_EPSILON, LayerNormalization
from .layer import Array, FrameLayer, Weights
from .precision import Precision


class LayerNormalizationLayer(FrameLayer):
    """Normalizes the numbers of each frame."""

    def __init__(self, layer: LayerNormalization, inputs: int, weights: Weights, precision: Precision) -> None:
        del inputs, precision
        self._scale, self._offset = (weights[f"{layer.name}/{each}"].copy() for each in ("scale", "offset"))

    def outputs(self, values: Array, threads: int) -> Array:
        """Return the normalized values [rows, inputs]."""
        del threads
        return normalized(values, self._scale, self._offset)


def normalized(values: Array, scale: Array, offset: Array) -> Array:
    """Return values [rows, n], normalized row by row, times the scale [n], plus the offset [n]."""
    centred = values - values.mean(axis=1, keepdims=True)
    variance = np.square(centred).mean(axis=1, keepdims=True)
    result: Array = centred / np.sqrt(variance + np.float32(NORMALIZATION_EPSILON)) * scale + offset
    return result
