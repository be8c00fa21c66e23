"""The acoustic model of an exported graph without TensorFlow: windows of features in, posteriors out.

The products that do not depend on the frame before are computed for many frames at once, the recurrent ones frame by
frame, both in C++, with weights that are put into blocks when the engine is made.
"""

from collections.abc import Mapping
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._acoustic import Dense as DenseProduct
from .._acoustic import Recurrence
from ..errors import GraphError
from ..network.description import LSTM, Dense, Layer
from ..util.parallel import usable_cores
from .frozen.model import FrozenModel

Array = npt.NDArray[np.float32]
Weights = Mapping[str, Array]

LARGEST_CHUNK = 512
"""The number of frames that go through the network at once; their gates take n_hidden * 8 KiB."""

FRAMES_WORTH_THREADS = 64
"""Chunks of fewer frames are computed by the calling thread alone, so that streams do not slow each other down."""

UNITS_WORTH_THREADS = 128
"""Layers of at most this number of units are computed by the calling thread alone."""

LANES = 16
COLUMNS = 64
"""Hidden units and columns of a block; see native_client/acoustic/kernels.h."""

LARGEST_WEIGHT = 32767
"""The integer that the largest recurrent weight of a column is rounded to, in int16."""


class LSTMState(NamedTuple):
    """Cell and hidden state of an LSTM, each float32 [units and filling]. Neither is changed in place."""

    c: Array
    h: Array


State = tuple[LSTMState, ...]
"""The state of a network: that of each of its recurrent layers, in their order."""


class Engine:
    """Runs a network. Threads may share an engine, as it holds nothing but weights."""

    def __init__(self, model: FrozenModel) -> None:
        network = model.info.network
        self._layers = [_prepared(layer, model.weights) for layer in network.layers_after_window]
        self._outputs = network.outputs
        self._cores = usable_cores()

    def initial_state(self) -> State:
        """Return the state before the first frame."""
        return tuple(layer.initial_state() for layer in self._layers if isinstance(layer, _LSTM))

    def run(self, windows: Array, state: State) -> tuple[Array, State]:
        """Return posteriors for windows of features, and the state after them.

        Posteriors are float32 [time, labels + 1], windows float32 [time, n_input]. However an utterance is cut into
        runs, its posteriors are the same but for rounding.
        """
        posteriors = np.empty((len(windows), self._outputs), np.float32)
        for start in range(0, len(windows), LARGEST_CHUNK):
            chunk = slice(start, start + LARGEST_CHUNK)
            posteriors[chunk], state = self._run_chunk(windows[chunk], state)
        return posteriors, state

    def _run_chunk(self, windows: Array, state: State) -> tuple[Array, State]:
        threads = self._cores if len(windows) >= FRAMES_WORTH_THREADS else 1
        values = windows
        before, after = iter(state), []
        for layer in self._layers:
            if isinstance(layer, _LSTM):
                values, new_state = layer.run(values, next(before), threads)
                after.append(new_state)
            else:
                values = layer.run(values, threads)
        return _softmax(values), tuple(after)


class _Dense:
    """A dense layer, its weights in blocks."""

    def __init__(self, layer: Dense, weights: Weights) -> None:
        self._product = _blocks_of(weights[f"{layer.name}/weights"], weights[f"{layer.name}/bias"])
        self._units = layer.units
        self._low, self._high = (-inf, inf) if layer.clip is None else (0.0, layer.clip)

    def run(self, values: Array, threads: int) -> Array:
        """Return the outputs [time, units] for values [time, inputs]."""
        shared_out = threads if self._units > UNITS_WORTH_THREADS else 1
        return self._product.run(values, self._low, self._high, shared_out)[:, : self._units]


class _LSTM:
    """An LSTM: the product with its inputs is computed for all frames at once, that with its state frame by frame."""

    def __init__(self, layer: LSTM, weights: Weights) -> None:
        kernel, bias = weights[f"{layer.name}/kernel"], _gates_in_blocks(weights[f"{layer.name}/bias"])
        n_input = len(kernel) - layer.units
        self._input_gates = _blocks_of(_gates_in_blocks(kernel[:n_input]), bias)
        self._recurrence = _recurrence(_gates_in_blocks(kernel[n_input:]))
        self._units = layer.units
        self._filled_units = len(bias) // 4

    def initial_state(self) -> LSTMState:
        """Return the state before the first frame."""
        zeros = np.zeros(self._filled_units, np.float32)
        return LSTMState(zeros, zeros)

    def run(self, values: Array, state: LSTMState, threads: int) -> tuple[Array, LSTMState]:
        """Return the hidden states [time, units] for values [time, inputs], and the state after the last frame."""
        gates = self._input_gates.run(values, -inf, inf, threads)
        hidden, c, h = self._recurrence.run(gates, state.c, state.h)
        return hidden[:, : self._units], LSTMState(c, h)


def _prepared(layer: Layer, weights: Weights) -> _Dense | _LSTM:
    if isinstance(layer, Dense):
        return _Dense(layer, weights)
    if isinstance(layer, LSTM):
        return _LSTM(layer, weights)
    raise GraphError(f"its layer {layer.name} cannot be run: it is a {type(layer).__name__} after the first layer")


def _blocks_of(weights: Array, bias: Array) -> DenseProduct:
    """Put weights [rows, columns] and a bias [columns] into blocks of columns, the last filled up with zeros."""
    rows, columns = weights.shape
    blocks = np.zeros((-(-columns // COLUMNS), rows, COLUMNS), np.float32)
    for number, block in enumerate(blocks):
        part = weights[:, number * COLUMNS : (number + 1) * COLUMNS]
        block[:, : part.shape[1]] = part
    filled_bias = np.zeros(len(blocks) * COLUMNS, np.float32)
    filled_bias[:columns] = bias
    return DenseProduct(blocks, filled_bias)


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


def _softmax(logits: Array) -> Array:
    exponentials: Array = np.exp(logits - logits.max(axis=-1, keepdims=True))
    exponentials /= exponentials.sum(axis=-1, keepdims=True)
    return exponentials
