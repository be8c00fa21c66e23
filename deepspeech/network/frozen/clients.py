"""Networks in exported graphs: a few steps in each run, with the state as input and output, and weights as constants.

The format is that of DeepSpeech 0.9's clients: a context window at the beginning, which is the graph's input, then
layers that need only the current frame. One cell state and one hidden state hold those of all recurrent layers side by
side. Only the few TensorFlow kernels of the clients are used (see docs/export.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from ..description import LSTM, Dense, IntermediateCTC, Layer, Network
from .supported import check_frozen

v1 = tf.compat.v1
Tensor = Any
Weights = Mapping[str, npt.NDArray[np.float32]]


def build_frozen_network(
    network: Network, weights: Weights, *, steps: int, batch: int, use_lengths: bool = True
) -> None:
    """Build the network in the current graph, with the names that clients use.

    Inputs are `input_node` float32 [batch, steps, 2 * context + 1, coefficients], `input_lengths` int32 [batch] and
    `previous_state_c/h` float32 [batch, units]; outputs are `logits` (probabilities) float32 [steps, batch, labels + 1]
    and `new_state_c/h`. Without `use_lengths`, all steps count. Raise ExportError for a network that the format does
    not support.
    """
    check_frozen(network)
    window = 2 * network.context + 1
    windows = v1.placeholder(tf.float32, [batch, steps, window, network.coefficients], "input_node")
    lengths = v1.placeholder(tf.int32, [batch], "input_lengths")
    frozen = _Frozen(network, weights, lengths, steps, batch, use_lengths)
    values = tf.reshape(tf.transpose(windows, [1, 0, 2, 3]), [-1, network.window_width])
    for layer in network.layers_after_window:
        values = _computed(layer, values, frozen)
    frozen.name_new_state()
    tf.nn.softmax(tf.reshape(values, [steps, batch, -1]), name="logits")


class _Frozen:
    """The constants and the state that the layers of a graph share."""

    def __init__(
        self, network: Network, weights: Weights, lengths: Tensor, steps: int, batch: int, use_lengths: bool
    ) -> None:
        # The weights of recurrent layers come last, as in DeepSpeech's own graphs.
        names = sorted(network.shapes, key=lambda name: isinstance(network.layer_of(name), LSTM))
        self.constants = {name: tf.constant(weights[name], name=name) for name in names}
        self.steps, self.batch = steps, batch
        self._lengths = lengths
        self._use_lengths = use_lengths
        self._units = [layer.units for layer in network.recurrent_layers]
        self._state: list[Tensor] = []
        self._new_states: list[list[Tensor]] = []

    @property
    def counted_steps(self) -> Tensor:
        """The number of steps of each utterance that count, int32 [batch]."""
        return self._lengths if self._use_lengths else tf.constant(self.steps, tf.int32, [self.batch])

    def next_state(self) -> list[Tensor]:
        """Return the cell and the hidden state before the first step, [batch, units], of the next recurrent layer."""
        if not self._state:
            shape = [self.batch, sum(self._units)]
            self._state = [v1.placeholder(tf.float32, shape, f"previous_state_{part}") for part in "ch"]
        if len(self._units) == 1:
            return self._state
        before = sum(self._units[: len(self._new_states)])
        units = range(before, before + self._units[len(self._new_states)])
        return [_columns(part, units) for part in self._state]

    def add_new_state(self, before: Sequence[Tensor], after: Sequence[Tensor], counted: Tensor) -> None:
        """Add the cell and the hidden states, [batch, units] before the first step, [steps, batch, units] after each.

        The new state is that after `counted` steps, int32 [batch].
        """
        last = tf.stack([counted, tf.range(self.batch)], axis=1)
        alone = len(self._units) == 1
        self._new_states.append(
            [
                tf.gather_nd(
                    tf.concat([tf.expand_dims(first, 0), others], axis=0),
                    last,
                    name=f"new_state_{part}" if alone else None,
                )
                for part, first, others in zip("ch", before, after, strict=True)
            ]
        )

    def name_new_state(self) -> None:
        """Concatenate the new states of the recurrent layers and name them."""
        if len(self._units) > 1:
            for part, states in zip("ch", zip(*self._new_states, strict=True), strict=True):
                tf.concat(states, axis=1, name=f"new_state_{part}")


@singledispatch
def _computed(layer: Layer, inputs: Tensor, frozen: _Frozen) -> Tensor:
    """Return the outputs of a layer for its inputs, both float32 [steps * batch, width]."""
    del inputs, frozen
    raise AssertionError(f"{layer} is not in the format, but check_frozen lets it through")


@_computed.register
def _intermediate(layer: IntermediateCTC, inputs: Tensor, frozen: _Frozen) -> Tensor:
    del layer, frozen
    return inputs


@_computed.register
def _dense(layer: Dense, inputs: Tensor, frozen: _Frozen) -> Tensor:
    product = tf.matmul(inputs, frozen.constants[f"{layer.name}/weights"])
    outputs = tf.nn.bias_add(product, frozen.constants[f"{layer.name}/bias"])
    return outputs if layer.clip is None else tf.minimum(tf.nn.relu(outputs), layer.clip)


@_computed.register
def _lstm(layer: LSTM, inputs: Tensor, frozen: _Frozen) -> Tensor:
    """Return hidden states, [steps * batch, units], zero beyond each utterance's length."""
    steps, batch = frozen.steps, frozen.batch
    inputs = tf.reshape(inputs, [steps, batch, -1])
    state = frozen.next_state()
    no_peephole = tf.zeros([layer.units])
    counted = frozen.counted_steps
    output = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.cast(tf.reduce_max(counted), tf.int64),
        x=inputs,
        cs_prev=state[0],
        h_prev=state[1],
        w=frozen.constants[f"{layer.name}/kernel"],
        wci=no_peephole,
        wcf=no_peephole,
        wco=no_peephole,
        b=frozen.constants[f"{layer.name}/bias"],
        forget_bias=0.0,
        cell_clip=-1.0,
        use_peephole=False,
    )
    frozen.add_new_state(state, (output.cs, output.h), counted)
    inside = tf.less(tf.expand_dims(tf.range(steps), 1), tf.expand_dims(counted, 0))
    hidden = output.h * tf.expand_dims(tf.cast(inside, tf.float32), -1)
    return tf.reshape(hidden, [steps * batch, -1])


def _columns(values: Tensor, columns: range) -> Tensor:
    """Return some columns of values [rows, n] with GatherNd: clients have no operation for slices."""
    rows = tf.gather_nd(tf.transpose(values), [[column] for column in columns])
    return tf.transpose(rows)
