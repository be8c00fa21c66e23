"""LSTMs: the product with the inputs is computed for all frames at once, that with the state frame by frame."""

from collections.abc import Sequence
from math import inf

import numpy as np

from ..._acoustic import Bfloat16Recurrence, Int8Recurrence, Recurrence, Step
from ...network.description import LSTM, BidirectionalLSTM
from .blocks import COLUMNS, Blocks, bfloat16_weights, gates_in_blocks, int8_weights, int16_weights
from .layer import Batch, Weights
from .plan import Planned, PlannedLayer
from .precision import Precision
from .products import product_of_blocks


class LSTMLayer(PlannedLayer):
    """An LSTM over time, from the first frame to the last.

    In each frame the states of all utterances are multiplied by the recurrent weights together.
    """

    def __init__(self, layer: LSTM, inputs: int, weights: Weights, precision: Precision) -> None:
        kernel, bias = weights[f"{layer.name}/kernel"], gates_in_blocks(weights[f"{layer.name}/bias"][None])
        gates = product_of_blocks(gates_in_blocks(kernel[:inputs]), bias, precision)
        recurrence = _recurrence_of(gates_in_blocks(kernel[inputs:]), layer.units, precision)
        super().__init__(Step.dense(gates, len(bias) * COLUMNS, -inf, inf), Step.recurrent(recurrence))


def _recurrence_of(
    weights: Blocks, units: int, precision: Precision
) -> Int8Recurrence | Bfloat16Recurrence | Recurrence:
    if precision is Precision.INT8:
        return Int8Recurrence(*int8_weights(weights), units)
    if precision is Precision.BFLOAT16:
        return Bfloat16Recurrence(bfloat16_weights(weights), units)
    return Recurrence(*int16_weights(weights))


class BidirectionalLSTMLayer:
    """Two LSTMs over a whole utterance, one of them from the last frame to the first."""

    def __init__(self, layer: BidirectionalLSTM, inputs: int, weights: Weights, precision: Precision) -> None:
        self._forward, self._backward = (
            Planned([LSTMLayer(each, inputs, weights, precision)]) for each in layer.directions
        )

    def initial_state(self) -> None:
        """Return None, as there is no state between whole utterances."""

    def run(self, batch: Batch, states: Sequence[None]) -> tuple[Batch, Sequence[None]]:
        """Return the hidden states of both directions, [time, 2 * units] of each utterance."""
        forward, backward = (
            layer.run(each, [layer.initial_state() for _ in states])[0].utterances
            for layer, each in ((self._forward, batch), (self._backward, _reversed(batch)))
        )
        both = [np.concatenate([one, other[::-1]], axis=1) for one, other in zip(forward, backward, strict=True)]
        return batch._replace(utterances=both), states


def _reversed(batch: Batch) -> Batch:
    return batch._replace(utterances=[np.ascontiguousarray(values[::-1]) for values in batch.utterances])
