"""Networks in training: feature frames in, one logit for each label and the blank out, in TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import tensorflow as tf

from ..errors import NetworkError
from .description import LSTM, ContextWindow, Dense, Layer, Network
from .layers.compute import Compute
from .layers.context_window import context_windows
from .layers.dense import dense
from .layers.dropout import dropout
from .layers.lstm import LSTMState, lstm, lstm_variables
from .layers.variables import factors

v1 = tf.compat.v1
Tensor = Any


@dataclass(frozen=True)
class Pass:
    """The batch that goes through the network, as its layers need it beside their inputs."""

    lengths: Tensor  # int32 [batch], frames
    time: Tensor  # int32 scalar: frames of the longest utterance
    batch: Tensor  # int32 scalar: utterances
    states: Mapping[str, LSTMState]  # by the names of the recurrent layers: those before the first frame
    training: bool
    compute: Compute


@dataclass(frozen=True)
class Activations:
    """The outputs of a layer: [time, batch, width], or [time * batch, width] with time and batch joined.

    They are float32, or bfloat16 where `Compute.dtype` says so.
    """

    values: Tensor

    def stacked(self, at: Pass) -> Tensor:
        """Return the activations as [time, batch, width]."""
        if self.values.shape.rank == 3:
            return self.values
        return tf.reshape(self.values, [at.time, at.batch, self.values.shape[1]])

    def joined(self, at: Pass) -> Tensor:
        """Return the activations as [time * batch, width]."""
        if self.values.shape.rank == 2:
            return self.values
        return tf.reshape(self.values, [at.time * at.batch, self.values.shape[2]])


def acoustic_model(
    network: Network, features: Tensor, lengths: Tensor, *, training: bool, compute: Compute | None = None
) -> Tensor:
    """Return float32 logits [time, batch, labels + 1] for float32 features [batch, time, coefficients].

    `lengths` is int32 [batch] in frames; what lies beyond is padding and must be zero. The blank is the last label.
    `compute` says by which kernels and in which precision; the default is TensorFlow's operations in float32. Dropout
    is active only when `training`. Variables are made on the first call in a graph and shared by later ones. Raise
    NetworkError for a layer that cannot be computed.
    """
    compute = compute or Compute()
    inputs = tf.cast(tf.transpose(features, [1, 0, 2]), compute.dtype)
    windows = context_windows(inputs, network.context) if network.context else inputs
    windows.set_shape([None, None, network.window_width])
    batch = tf.shape(features)[0]
    states = {layer.name: _initial_state(layer, batch) for layer in network.recurrent_layers}
    time, batch = tf.unstack(tf.shape(windows)[:2])
    at = Pass(lengths, time, batch, states, training, compute)
    activations = Activations(windows)
    for layer in network.layers_after_window:
        activations = computed(layer, activations, at)
    return activations.stacked(at)


@singledispatch
def computed(layer: Layer, inputs: Activations, at: Pass) -> Activations:
    """Return the outputs of a layer for its inputs; register a function here for each kind of record."""
    del inputs, at
    raise NetworkError(f"layer {layer.name}: there is no way to compute a {type(layer).__name__} in training")


@computed.register
def _dense(layer: Dense, inputs: Activations, at: Pass) -> Activations:
    rate = layer.dropout if at.training else 0.0
    return Activations(dense(layer, inputs.joined(at), rate, at.compute))


@computed.register
def _lstm(layer: LSTM, inputs: Activations, at: Pass) -> Activations:
    kernel, bias = lstm_variables(layer, inputs.values.shape[-1])
    values = dropout(inputs.values, layer.input_dropout if at.training else 0.0)
    hidden, _ = lstm(
        Activations(values).stacked(at),
        at.lengths,
        factors(kernel, at.compute.dtype),
        bias,
        at.states[layer.name],
        at.compute,
    )
    return Activations(dropout(hidden, layer.output_dropout if at.training else 0.0))


@computed.register
def _context_window(layer: ContextWindow, inputs: Activations, at: Pass) -> Activations:
    inside = tf.transpose(tf.sequence_mask(at.lengths, at.time, dtype=inputs.values.dtype))[:, :, None]
    return Activations(context_windows(inputs.stacked(at) * inside, layer.frames))


def _initial_state(layer: LSTM, batch: Tensor) -> LSTMState:
    zero = tf.zeros([batch, layer.units])
    return LSTMState(zero, zero)
