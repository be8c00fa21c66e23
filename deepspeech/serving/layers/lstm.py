"""LSTMs: the product with the inputs is computed for all frames at once, the product with the state frame by frame."""

import sys
from collections.abc import Sequence
from itertools import islice, pairwise
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


class TwoLSTMsState(NamedTuple):
    """The state of the forward LSTM, float32 [size], the frames of an incomplete chunk, and the size of this chunk."""

    forward: Array
    waiting: Array
    chunk: int


class TwoLSTMsLayer:
    """Two LSTMs; the second runs backwards over each chunk once all its frames are there.

    In a BidirectionalLSTM, the whole utterance is the only chunk.
    """

    def __init__(self, layer: TwoLSTMs, inputs: int, weights: Weights, precision: Precision) -> None:
        forward, backward = layer.directions
        self._forward = Planned([LSTMLayer(forward, inputs, weights, precision)])
        self._backward = Planned([LSTMLayer(backward, inputs, weights, precision)])
        self._chunk, self._offset = (layer.chunk, layer.offset) if isinstance(layer, ChunkedLSTM) else (sys.maxsize, 0)
        self._inputs, self._units = inputs, layer.units

    def initial_state(self) -> TwoLSTMsState:
        """Return the state before the first frame."""
        waiting = np.zeros((0, self._inputs), np.float32)
        return TwoLSTMsState(self._forward.initial_state(), waiting, self._chunk - self._offset)

    def run(self, batch: Batch, states: Sequence[TwoLSTMsState]) -> tuple[Batch, Sequence[TwoLSTMsState]]:
        """Return the hidden states of both directions, [time, 2 * units] of each utterance's complete chunks."""
        frames = [
            np.concatenate([state.waiting, values]) for state, values in zip(states, batch.utterances, strict=True)
        ]
        ends = [
            self._ends_of_chunks(state.chunk, len(values), last)
            for state, values, last in zip(states, frames, batch.last, strict=True)
        ]
        complete = batch._replace(
            utterances=[
                values[: max(of_utterance, default=0)] for values, of_utterance in zip(frames, ends, strict=True)
            ]
        )
        forward, after = self._forward.run(complete, [state.forward for state in states])
        second = self._over_chunks(complete, ends)
        both = [np.concatenate(each, axis=1) for each in zip(forward.utterances, second, strict=True)]
        waiting = (values[max(each, default=0) :].copy() for values, each in zip(frames, ends, strict=True))
        chunks = (self._chunk if each else state.chunk for each, state in zip(ends, states, strict=True))
        return batch._replace(utterances=both), list(map(TwoLSTMsState, after, waiting, chunks))

    def _ends_of_chunks(self, first: int, frames: int, last: bool) -> Sequence[int]:
        """Return where the complete chunks in `frames` end; the first chunk has `first` frames."""
        ends = range(first, frames + 1, self._chunk)
        return (*ends, frames) if last and frames > max(ends, default=0) else ends

    def _over_chunks(self, batch: Batch, ends: Sequence[Sequence[int]]) -> Sequence[Array]:
        """Return the hidden states of the second LSTM, [time, units] of each utterance."""
        chunks = [
            np.ascontiguousarray(values[start:end][::-1])
            for values, of_utterance in zip(batch.utterances, ends, strict=True)
            for start, end in pairwise((0, *of_utterance))
        ]
        turned, _ = self._backward.run(
            batch._replace(utterances=chunks), [self._backward.initial_state() for _ in chunks]
        )
        hidden = (values[::-1] for values in turned.utterances)
        none = np.zeros((0, self._units), np.float32)
        return [np.concatenate([none, *islice(hidden, len(each))]) for each in ends]
