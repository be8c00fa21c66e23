"""The acoustic model of an exported graph without TensorFlow: windows of features in, posteriors out.

All products that do not depend on the frame before are taken for many frames at once, the recurrent one frame by frame,
both in C++, with weights that were put in order once.
"""

from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._acoustic import Dense, Recurrence
from ..util.parallel import usable_cores
from .frozen.model import BIAS, KERNEL, FrozenModel

Array = npt.NDArray[np.float32]

LARGEST_CHUNK = 512
"""Frames that go through the network at once; the gates of so many take n_hidden * 8 KiB."""

FRAMES_WORTH_THREADS = 64
"""Chunks of fewer frames are done by the calling thread alone, so that streams do not get in each other's way."""

LANES = 16
COLUMNS = 64
"""Hidden units and columns of a block; see native_client/acoustic/kernels.h."""

LARGEST_WEIGHT = 32767


class State(NamedTuple):
    """What the LSTM remembers: cell and hidden state, each float32 [n_hidden and filling]. Never changed in place."""

    c: Array
    h: Array


class Engine:
    """Runs the network. Threads may share one: it holds nothing but weights."""

    def __init__(self, model: FrozenModel) -> None:
        weights = model.weights
        kernel, bias = weights[KERNEL], weights[BIAS]
        self._clip = model.info.relu_clip
        self._n_hidden = n_hidden = len(bias) // 4
        self._layers = {
            number: _dense(weights[f"layer_{number}/weights"], weights[f"layer_{number}/bias"])
            for number in (1, 2, 3, 5, 6)
        }
        self._widths = {number: len(weights[f"layer_{number}/bias"]) for number in self._layers}
        n_input = len(kernel) - n_hidden
        gate_bias = _gates_in_blocks(bias)
        self._input_gates = _dense(_gates_in_blocks(kernel[:n_input]), gate_bias)
        self._recurrence = _recurrence(_gates_in_blocks(kernel[n_input:]))
        self._units = len(gate_bias) // 4
        self._cores = usable_cores()

    def initial_state(self) -> State:
        """The state before the first frame."""
        zeros = np.zeros(self._units, np.float32)
        return State(zeros, zeros)

    def run(self, windows: Array, state: State) -> tuple[Array, State]:
        """Return posteriors [time, labels + 1] for windows of features [time, n_input], and the state after them.

        However an utterance is cut into runs, its posteriors are the same but for rounding.
        """
        posteriors = np.empty((len(windows), self._widths[6]), np.float32)
        for start in range(0, len(windows), LARGEST_CHUNK):
            chunk = slice(start, start + LARGEST_CHUNK)
            posteriors[chunk], state = self._run_chunk(windows[chunk], state)
        return posteriors, state

    def _run_chunk(self, windows: Array, state: State) -> tuple[Array, State]:
        threads = self._cores if len(windows) >= FRAMES_WORTH_THREADS else 1
        layer = windows
        for number in (1, 2, 3):
            layer = self._clipped_relu(layer, number, threads)
        gates = self._input_gates.run(layer, -inf, inf, threads)
        hidden, c, h = self._recurrence.run(gates, state.c, state.h)
        layer = self._clipped_relu(hidden[:, : self._n_hidden], 5, threads)
        logits = self._layers[6].run(layer, -inf, inf, 1)[:, : self._widths[6]]
        return _softmax(logits), State(c, h)

    def _clipped_relu(self, values: Array, number: int, threads: int) -> Array:
        outputs = self._layers[number].run(values, 0, self._clip, threads)
        return outputs[:, : self._widths[number]]


def _dense(weights: Array, bias: Array) -> Dense:
    """Put weights [rows, columns] and a bias [columns] into blocks of columns, the last filled up with zeros."""
    rows, columns = weights.shape
    blocks = np.zeros((-(-columns // COLUMNS), rows, COLUMNS), np.float32)
    for number, block in enumerate(blocks):
        part = weights[:, number * COLUMNS : (number + 1) * COLUMNS]
        block[:, : part.shape[1]] = part
    filled_bias = np.zeros(len(blocks) * COLUMNS, np.float32)
    filled_bias[:columns] = bias
    return Dense(blocks, filled_bias)


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
