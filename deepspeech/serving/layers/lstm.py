"""LSTMs: the product with the inputs is computed for all frames at once, that with the state frame by frame."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from ..._acoustic import Bfloat16Recurrence, Int8Recurrence, Recurrence
from ...network.description import LSTM, BidirectionalLSTM
from .blocks import COLUMNS, Blocks, bfloat16_weights, gates_in_blocks, int8_weights, int16_weights
from .layer import Array, Batch, UtteranceLayer, Weights
from .precision import Precision
from .products import product_of_blocks


class LSTMState(NamedTuple):
    """Cell and hidden state of an LSTM, each float32 [units and filling]. Neither is changed in place."""

    c: Array
    h: Array


class LSTMLayer:
    """An LSTM over time, from the first frame to the last."""

    def __init__(self, layer: LSTM, inputs: int, weights: Weights, precision: Precision) -> None:
        kernel, bias = weights[f"{layer.name}/kernel"], gates_in_blocks(weights[f"{layer.name}/bias"][None])
        self._input_gates = product_of_blocks(gates_in_blocks(kernel[:inputs]), bias, precision)
        recurrent = gates_in_blocks(kernel[inputs:])
        self._recurrence = _recurrence_of(recurrent, layer.units, precision)
        self._units = layer.units
        self._filled_units = len(bias) * COLUMNS // 4

    def initial_state(self) -> LSTMState:
        """Return the state before the first frame."""
        zeros = np.zeros(self._filled_units, np.float32)
        return LSTMState(zeros, zeros)

    def run(self, batch: Batch, states: Sequence[LSTMState]) -> tuple[Batch, Sequence[LSTMState]]:
        """Return the hidden states [rows, units] for values [rows, inputs], and the states after the last frames.

        In each frame the states of all utterances are multiplied by the recurrent weights together.
        """
        gates = self._input_gates.run(batch.rows, -inf, inf, batch.threads)
        c, h = (np.stack([state[part] for state in states]) for part in range(2))
        hidden, c, h = self._recurrence.run(gates, batch.lengths, c, h, batch.threads)
        return batch._replace(rows=hidden[:, : self._units]), [LSTMState(*each) for each in zip(c, h, strict=True)]


def _recurrence_of(
    weights: Blocks, units: int, precision: Precision
) -> Int8Recurrence | Bfloat16Recurrence | Recurrence:
    if precision is Precision.INT8:
        return Int8Recurrence(*int8_weights(weights), units)
    if precision is Precision.BFLOAT16:
        return Bfloat16Recurrence(bfloat16_weights(weights), units)
    return Recurrence(*int16_weights(weights))


class BidirectionalLSTMLayer(UtteranceLayer):
    """Two LSTMs over a whole utterance, one of them from the last frame to the first."""

    def __init__(self, layer: BidirectionalLSTM, inputs: int, weights: Weights, precision: Precision) -> None:
        self._forward, self._backward = (LSTMLayer(each, inputs, weights, precision) for each in layer.directions)

    def initial_state(self) -> None:
        """Return None, as there is no state between whole utterances."""

    def run_utterance(self, values: Array, state: None, threads: int, *, last: bool) -> tuple[Array, None]:
        """Return the hidden states of both directions, [time, 2 * units], for the values of an utterance."""
        both = ((self._forward, values), (self._backward, values[::-1]))
        forward, backward = (
            layer.run(Batch.of([each], (last,), threads), [layer.initial_state()])[0].rows for layer, each in both
        )
        return np.concatenate([forward, backward[::-1]], axis=1), state
