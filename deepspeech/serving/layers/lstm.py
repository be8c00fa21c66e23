"""LSTMs: the product with the inputs is computed for all frames at once, that with the state frame by frame."""

from collections.abc import Sequence
from itertools import islice
from math import inf
from typing import NamedTuple

import numpy as np

from ..._acoustic import Bfloat16Recurrence, Int8Recurrence, Recurrence, Step
from ...network.description import LSTM, ChunkedLSTM, TwoLSTMs
from .blocks import COLUMNS, Blocks, bfloat16_weights, gates_in_blocks, int8_weights, int16_weights
from .layer import Array, Batch, Weights
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


class TwoLSTMsLayer:
    """Two LSTMs over whole utterances, one of them from the last frame to the first."""

    def __init__(self, layer: TwoLSTMs, inputs: int, weights: Weights, precision: Precision) -> None:
        forward, backward = layer.directions
        self._forward = Planned([LSTMLayer(forward, inputs, weights, precision)])
        self._backward = Planned([LSTMLayer(backward, inputs, weights, precision)])

    def initial_state(self) -> None:
        """Return None, as there is no state between whole utterances."""

    def run(self, batch: Batch, states: Sequence[None]) -> tuple[Batch, Sequence[None]]:
        """Return the hidden states of both directions, [time, 2 * units] of each utterance."""
        forward, _ = self._forward.run(batch, [self._forward.initial_state() for _ in states])
        return _side_by_side(forward, _backwards(self._backward, batch)), states


class ChunkedState(NamedTuple):
    """What the LSTM that goes forwards keeps, float32 [size], and the frames of a chunk that is not complete."""

    forward: Array
    waiting: Array


class ChunkedLSTMLayer:
    """Two LSTMs, of which the second goes over each chunk from its end, when all its frames are there."""

    def __init__(self, layer: ChunkedLSTM, inputs: int, weights: Weights, precision: Precision) -> None:
        forward, backward = layer.directions
        self._forward = Planned([LSTMLayer(forward, inputs, weights, precision)])
        self._backward = Planned([LSTMLayer(backward, inputs, weights, precision)])
        self._chunk, self._inputs, self._units = layer.chunk, inputs, layer.units

    def initial_state(self) -> ChunkedState:
        """Return the state before the first frame."""
        return ChunkedState(self._forward.initial_state(), np.zeros((0, self._inputs), np.float32))

    def run(self, batch: Batch, states: Sequence[ChunkedState]) -> tuple[Batch, Sequence[ChunkedState]]:
        """Return the hidden states of both directions, [time, 2 * units] of each utterance's complete chunks."""
        frames = [
            np.concatenate([state.waiting, values]) for state, values in zip(states, batch.utterances, strict=True)
        ]
        ends = [
            len(values) if last else len(values) // self._chunk * self._chunk
            for values, last in zip(frames, batch.last, strict=True)
        ]
        complete = batch._replace(utterances=[values[:end] for values, end in zip(frames, ends, strict=True)])
        forward, after = self._forward.run(complete, [state.forward for state in states])
        new = [ChunkedState(state, values[end:].copy()) for state, values, end in zip(after, frames, ends, strict=True)]
        return _side_by_side(forward, self._over_chunks(complete)), new

    def _over_chunks(self, batch: Batch) -> Sequence[Array]:
        """Return the hidden states of the second LSTM, [time, units] of each utterance."""
        starts = [range(0, len(values), self._chunk) for values in batch.utterances]
        chunks = [
            values[start : start + self._chunk]
            for values, of_utterance in zip(batch.utterances, starts, strict=True)
            for start in of_utterance
        ]
        hidden = iter(_backwards(self._backward, batch._replace(utterances=chunks)) if chunks else ())
        none = np.zeros((0, self._units), np.float32)
        return [np.concatenate([none, *islice(hidden, len(each))]) for each in starts]


def _backwards(lstm: Planned, batch: Batch) -> Sequence[Array]:
    """Return the hidden states of each utterance by an LSTM that goes from the last frame to the first."""
    turned = batch._replace(utterances=[np.ascontiguousarray(values[::-1]) for values in batch.utterances])
    hidden, _ = lstm.run(turned, [lstm.initial_state() for _ in batch.utterances])
    return [values[::-1] for values in hidden.utterances]


def _side_by_side(forward: Batch, backward: Sequence[Array]) -> Batch:
    both = [np.concatenate(each, axis=1) for each in zip(forward.utterances, backward, strict=True)]
    return forward._replace(utterances=both)
