"""The acoustic model of an exported graph, run by NumPy: windows of features in, posteriors out.

All products that do not depend on the frame before are taken for many frames at once; only the recurrent one is taken
frame by frame, with weights that were put in order once. TensorFlow is not needed.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .frozen_model import BIAS, KERNEL, FrozenModel

Array = npt.NDArray[np.float32]

LARGEST_CHUNK = 512
"""Frames that go through the network at once; the gates of so many take n_hidden * 8 KiB."""


class State(NamedTuple):
    """What the LSTM remembers: cell and hidden state, each float32 [n_hidden]. Never changed in place."""

    c: Array
    h: Array


class Engine:
    """Runs the network. Threads may share one: it holds nothing but weights."""

    def __init__(self, model: FrozenModel) -> None:
        weights = model.weights
        kernel, bias = weights[KERNEL], weights[BIAS]
        self._clip = np.float32(model.info.relu_clip)
        self._n_hidden = n_hidden = len(bias) // 4
        n_input = len(kernel) - n_hidden
        # An aligned copy of each: what lies in a file is not aligned.
        self._layers = {
            number: (weights[f"layer_{number}/weights"].copy(), weights[f"layer_{number}/bias"].copy())
            for number in (1, 2, 3, 5, 6)
        }
        self._input_weights = _gates_in_order(kernel[:n_input])
        self._recurrent_weights = np.ascontiguousarray(_gates_in_order(kernel[n_input:]).T)
        self._gate_bias = _gates_in_order(bias)

    def initial_state(self) -> State:
        """The state before the first frame."""
        return State(np.zeros(self._n_hidden, np.float32), np.zeros(self._n_hidden, np.float32))

    def run(self, windows: Array, state: State) -> tuple[Array, State]:
        """Return posteriors [time, labels + 1] for windows of features [time, n_input], and the state after them.

        However an utterance is cut into runs, its posteriors are the same but for rounding.
        """
        posteriors = np.empty((len(windows), self._layers[6][1].size), np.float32)
        for start in range(0, len(windows), LARGEST_CHUNK):
            chunk = slice(start, start + LARGEST_CHUNK)
            posteriors[chunk], state = self._run_chunk(windows[chunk], state)
        return posteriors, state

    def _run_chunk(self, windows: Array, state: State) -> tuple[Array, State]:
        layer = windows
        for number in (1, 2, 3):
            layer = self._clipped_relu(layer, number)
        gates = layer @ self._input_weights
        gates += self._gate_bias
        layer, state = self._recurrence(gates, state)
        layer = self._clipped_relu(layer, 5)
        weights, bias = self._layers[6]
        return _softmax(layer @ weights + bias), state

    def _clipped_relu(self, values: Array, number: int) -> Array:
        weights, bias = self._layers[number]
        product: Array = values @ weights
        product += bias
        return np.clip(product, np.float32(0), self._clip, out=product)

    def _recurrence(self, gates: Array, state: State) -> tuple[Array, State]:
        """Return hidden states [time, n_hidden] for the gates' inputs [time, 4 * n_hidden], and the last state."""
        n_hidden = self._n_hidden
        c, h = state.c.copy(), state.h
        hidden = np.empty((len(gates), n_hidden), np.float32)
        gate = np.empty(4 * n_hidden, np.float32)
        sigmoids = gate[: 3 * n_hidden]
        input_gate, forget_gate, output_gate, candidate = np.split(gate, 4)
        for time, gate_inputs in enumerate(gates):
            np.dot(self._recurrent_weights, h, out=gate)
            gate += gate_inputs
            np.tanh(gate, out=gate)
            sigmoids *= np.float32(0.5)
            sigmoids += np.float32(0.5)
            c *= forget_gate
            input_gate *= candidate
            c += input_gate
            h = np.tanh(c, out=hidden[time])
            h *= output_gate
        return hidden, State(c, h.copy())


def _gates_in_order(values: Array) -> Array:
    """Put gates [..., input candidate forget output] into the order input, forget, output, candidate.

    The first three are halved, since sigmoid(x) = (1 + tanh(x / 2)) / 2: then one tanh serves all four.
    """
    i, g, f, o = np.split(values, 4, axis=-1)
    ordered: Array = np.concatenate([i, f, o, g], axis=-1)
    ordered[..., : 3 * i.shape[-1]] *= np.float32(0.5)
    return ordered


def _softmax(logits: Array) -> Array:
    logits -= logits.max(axis=-1, keepdims=True)
    exponentials: Array = np.exp(logits, out=logits)
    exponentials /= exponentials.sum(axis=-1, keepdims=True)
    return exponentials
