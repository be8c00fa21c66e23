"""LSTMs: the product with the inputs is computed for all frames at once, that with the state frame by frame."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from ..._acoustic import Recurrence
from ...network.description import LSTM, BidirectionalLSTM
from .layer import Array, Batch, UtteranceLayer, Weights
from .products import COLUMNS, blocks_of

LANES = 16
"""Hidden units of a block; see native_client/acoustic/kernels.h."""

LARGEST_WEIGHT = 32767
"""The integer that the largest recurrent weight of a column is rounded to, in int16."""


class LSTMState(NamedTuple):
    """Cell and hidden state of an LSTM, each float32 [units and filling]. Neither is changed in place."""

    c: Array
    h: Array


class LSTMLayer:
    """An LSTM over time, from the first frame to the last."""

    def __init__(self, layer: LSTM, inputs: int, weights: Weights) -> None:
        kernel, bias = weights[f"{layer.name}/kernel"], _gates_in_blocks(weights[f"{layer.name}/bias"])
        self._input_gates = blocks_of(_gates_in_blocks(kernel[:inputs]), bias)
        self._recurrence = _recurrence(_gates_in_blocks(kernel[inputs:]))
        self._units = layer.units
        self._filled_units = len(bias) // 4

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


class BidirectionalLSTMLayer(UtteranceLayer):
    """Two LSTMs over a whole utterance, one of them from the last frame to the first."""

    def __init__(self, layer: BidirectionalLSTM, inputs: int, weights: Weights) -> None:
        self._forward, self._backward = (LSTMLayer(each, inputs, weights) for each in layer.directions)

    def initial_state(self) -> None:
        """Return None, as there is no state between whole utterances."""

    def run_utterance(self, values: Array, state: None, threads: int, *, last: bool) -> tuple[Array, None]:
        """Return the hidden states of both directions, [time, 2 * units], for the values of an utterance."""
        both = ((self._forward, values), (self._backward, values[::-1]))
        forward, backward = (
            layer.run(Batch.of([each], (last,), threads), [layer.initial_state()])[0].rows for layer, each in both
        )
        return np.concatenate([forward, backward[::-1]], axis=1), state


def _recurrence(weights: Array) -> Recurrence:
    """Round weights [n_hidden, blocks * 64], in blocks of gates already, to integers with a scale for each column."""
    scales = np.maximum(np.abs(weights).max(axis=0), np.float32(1e-30)) / np.float32(LARGEST_WEIGHT)
    blocks = np.empty((len(scales) // COLUMNS, len(weights), COLUMNS), np.int16)
    for number, block in enumerate(blocks):
        part = slice(number * COLUMNS, (number + 1) * COLUMNS)
        block[:] = np.rint(weights[:, part] / scales[part])
    return Recurrence(blocks, scales)


def _gates_in_blocks(values: Array) -> Array:
    """Put gates [..., 4 * n_hidden] into blocks [..., blocks * 4 * 16], the last of them filled up with zeros."""
    n_hidden = values.shape[-1] // 4
    by_gate = values.reshape(*values.shape[:-1], 4, n_hidden)
    filled = np.zeros((*by_gate.shape[:-1], -(-n_hidden // LANES) * LANES), np.float32)
    filled[..., :n_hidden] = by_gate
    blocks = filled.reshape(*filled.shape[:-1], -1, LANES).swapaxes(-2, -3)
    return np.ascontiguousarray(blocks).reshape(*values.shape[:-1], -1)
