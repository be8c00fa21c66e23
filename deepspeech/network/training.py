"""Networks in training, in TensorFlow: from frames of features to a logit for each label and the blank."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import tensorflow as tf

from ..errors import NetworkError
from ..util.files.python_files import errors_of_code
from .checks.frames import with_frames_checked
from .checks.rounding import check_rounding
from .description import (
    LSTM,
    BidirectionalLSTM,
    ChunkedLSTM,
    ContextWindow,
    Convolution,
    ConvolutionModule,
    Dense,
    FeedForward,
    IntermediateCTC,
    Layer,
    LayerNormalization,
    Network,
    Projection,
    SelfAttention,
)
from .layers.attention import convolution_module, feed_forward, self_attention
from .layers.compute import Compute
from .layers.context_window import context_windows
from .layers.convolution import convolution
from .layers.dense import dense, projection
from .layers.dropout import seeded_dropout
from .layers.layer_normalization import layer_normalization
from .layers.lstm import LSTMState, bidirectional_lstm, chunked_lstm, lstm
from .layers.variables import kernel_factors, variables_of

v1 = tf.compat.v1
Tensor = Any


@dataclass(frozen=True)
class Pass:
    """The properties of a batch that layers need besides their inputs.

    Frames are those of the layer's input; earlier layers may have reduced their number.
    """

    lengths: Tensor  # int32 [batch], frames
    time: Tensor  # int32 scalar: frames of the longest utterance
    batch: Tensor  # int32 scalar: utterances
    states: Mapping[str, LSTMState]  # by the names of the recurrent layers: those before the first frame
    training: bool
    compute: Compute

    def after(self, layer: Layer) -> Pass:
        """Return the pass for the next layer."""
        if layer.time_reduction == 1:
            return self
        lengths, time = (reduced(each, layer.time_reduction) for each in (self.lengths, self.time))
        return replace(self, lengths=lengths, time=time)


@dataclass(frozen=True)
class Activations:
    """The outputs of a layer: [time, batch, width], or [time * batch, width] with time and batch joined.

    Those of convolutions are [batch, time, frequencies, channels]. The type is float32 or `Compute.dtype`.
    """

    values: Tensor

    @property
    def width(self) -> int:
        """The width of a frame."""
        return math.prod(self.values.shape[2 if self.values.shape.rank == 4 else -1 :])

    def stacked(self, at: Pass) -> Tensor:
        """Return the activations as [time, batch, width]."""
        if self.values.shape.rank == 3:
            return self.values
        if self.values.shape.rank == 4:
            merged = tf.reshape(self.values, [at.batch, at.time, self.width])
            return tf.transpose(merged, [1, 0, 2])
        return tf.reshape(self.values, [at.time, at.batch, self.values.shape[1]])

    def joined(self, at: Pass) -> Tensor:
        """Return the activations as [time * batch, width]."""
        if self.values.shape.rank == 2:
            return self.values
        return tf.reshape(self.stacked(at), [at.time * at.batch, self.width])

    def in_channels(self, channels: int, at: Pass) -> Tensor:
        """Return the activations as [batch, time, frequencies, channels], for a number of channels."""
        by_utterance = self.values if self.values.shape.rank == 4 else tf.transpose(self.stacked(at), [1, 0, 2])
        return tf.reshape(by_utterance, [at.batch, at.time, self.width // channels, channels])


@dataclass(frozen=True)
class Outputs:
    """The outputs of a network for a batch."""

    logits: Tensor  # float32 [rows, batch, labels + 1]; the blank is the last label
    lengths: Tensor  # int32 [batch], rows
    intermediate: tuple[tuple[float, Outputs], ...] = ()  # in training: weights, and such outputs, of inner layers


def outputs_of(
    network: Network, features: Tensor, lengths: Tensor, *, training: bool, compute: Compute | None = None
) -> Outputs:
    """Return the network's outputs for float32 features [batch, time, coefficients].

    `lengths` is int32 [batch] in frames; frames beyond are padding and must be zero. `compute` selects kernels and
    precision; the default is TensorFlow's operations in float32. Dropout is active only when `training`. The first call
    in a graph makes the variables, later calls share them. Raise NetworkError for a layer that cannot be computed.
    """
    compute = compute or Compute()
    inputs = tf.cast(tf.transpose(features, [1, 0, 2]), compute.dtype)
    windows = context_windows(inputs, network.context) if network.context else inputs
    batch = tf.shape(features)[0]
    return outputs_after_window(network, windows, lengths, batch, training=training, compute=compute)


def outputs_after_window(
    network: Network, windows: Tensor, lengths: Tensor, batch: Tensor, *, training: bool, compute: Compute
) -> Outputs:
    """Return the outputs of the layers after the context window for windows [time, batch, width]."""
    windows.set_shape([None, None, network.window_width])
    states = {layer.name: _initial_state(layer, batch) for layer in network.recurrent_layers}
    at = Pass(lengths, tf.shape(windows)[0], tf.shape(windows)[1], states, training, compute)
    activations = Activations(windows)
    intermediate = []
    check_rounding(network, compute)
    exact = replace(compute, quantize_after=None)
    outer = (network.layers_after_window[0], network.layers[-1])  # inference does not round these either
    for layer in network.layers_after_window:
        at = replace(at, compute=exact if layer in outer else compute)
        if isinstance(layer, IntermediateCTC):
            if training:
                inner = _by_its_record(network.layers[-1], activations, replace(at, compute=exact))
                intermediate.append((layer.weight, Outputs(inner.stacked(at), at.lengths)))
            continue
        activations = _by_its_record(layer, activations, at)
        if layer is not network.layers[-1]:  # a linear layer, or a user's own, may compute in float32
            activations = Activations(tf.cast(activations.values, compute.dtype))
        at = at.after(layer)
    return Outputs(activations.stacked(at), at.lengths, tuple(intermediate))


def _by_its_record(layer: Layer, inputs: Activations, at: Pass) -> Activations:
    """Return the outputs of a layer; raise NetworkError for weights that are not in its record.

    Each graph, such as that of the test, would have its own values of such weights, or checkpoints would lack them.
    """
    before = len(v1.global_variables())
    with errors_of_code(f"layer {layer.name}", NetworkError):
        outputs = computed(layer, inputs, at)
        _check_outputs(layer, outputs, layer.width(inputs.width))
    told = {v1.GraphKeys.GLOBAL_STEP, *(variable.name for variable in layer.variables(inputs.width))}
    for made in v1.global_variables()[before:]:
        if made.op.name not in told:
            raise NetworkError(
                f"layer {layer.name}: makes the variable {made.op.name}, which is not in its record; let the record's "
                f"`variables` return it, with a name that begins with {layer.name}/, and get it from `variables_of`"
            )
    return with_frames_checked(layer, outputs, at.after(layer)) if is_own(layer) else outputs


def is_own(layer: Layer) -> bool:
    """Return whether a layer's function is a user's own."""
    return computed.dispatch(type(layer)).__module__ != __name__


def _check_outputs(layer: Layer, outputs: Activations, width: int) -> None:
    """Raise NetworkError for outputs that are not those that the layer's record promises."""
    if not isinstance(outputs, Activations) or not tf.is_tensor(outputs.values):
        told = f"{type(getattr(outputs, 'values', outputs)).__name__}, not Activations of a tensor"
    elif outputs.values.shape.rank not in (2, 3, 4):
        told = f"a tensor of the shape {outputs.values.shape}, not [time, batch, width] or [time * batch, width]"
    elif outputs.width != width:
        told = f"{outputs.width} numbers for a frame, but the `width` of its record is {width}"
    else:
        return
    raise NetworkError(f"layer {layer.name}: its function returns {told}")


def reduced(count: Tensor, reduction: int) -> Tensor:
    """Return the number of rows for `count` frames, int32, with `reduction` frames for each row."""
    return (count + reduction - 1) // reduction


@singledispatch
def computed(layer: Layer, inputs: Activations, at: Pass) -> Activations:
    """Return the outputs of a layer for its inputs; each kind of record must register its function here."""
    del inputs, at
    kind = type(layer).__name__
    raise NetworkError(
        f"layer {layer.name}: there is no way to compute a {kind} in training; register a function with `computed`"
    )


@computed.register
def _dense(layer: Dense, inputs: Activations, at: Pass) -> Activations:
    rate = layer.dropout if at.training else 0.0
    return Activations(dense(layer, inputs.joined(at), rate, at.compute))


@computed.register
def _lstm(layer: LSTM, inputs: Activations, at: Pass) -> Activations:
    kernel, bias = variables_of(layer, inputs.width)
    values = seeded_dropout(inputs.values, layer.input_dropout if at.training else 0.0, at.compute)
    hidden, _ = lstm(
        Activations(values).stacked(at),
        at.lengths,
        kernel_factors(kernel, inputs.width, at.compute),
        bias,
        at.states[layer.name],
        at.compute,
    )
    return Activations(seeded_dropout(hidden, layer.output_dropout if at.training else 0.0, at.compute))


@computed.register
def _bidirectional_lstm(layer: BidirectionalLSTM, inputs: Activations, at: Pass) -> Activations:
    return Activations(bidirectional_lstm(layer, inputs.stacked(at), at.lengths, at.compute))


@computed.register
def _chunked_lstm(layer: ChunkedLSTM, inputs: Activations, at: Pass) -> Activations:
    return Activations(chunked_lstm(layer, inputs.stacked(at), at.lengths, at.compute))


@computed.register
def _convolution(layer: Convolution, inputs: Activations, at: Pass) -> Activations:
    return Activations(convolution(layer, inputs.in_channels(layer.input_channels, at), at.lengths, at.compute))


@computed.register
def _projection(layer: Projection, inputs: Activations, at: Pass) -> Activations:
    return Activations(projection(layer, inputs.joined(at), at.compute))


@computed.register
def _layer_normalization(layer: LayerNormalization, inputs: Activations, at: Pass) -> Activations:
    rate = layer.dropout if at.training else 0.0
    return Activations(layer_normalization(layer, inputs.joined(at), rate, at.compute))


@computed.register
def _feed_forward(layer: FeedForward, inputs: Activations, at: Pass) -> Activations:
    rate = layer.dropout if at.training else 0.0
    return Activations(feed_forward(layer, inputs.joined(at), rate, at.compute))


@computed.register
def _self_attention(layer: SelfAttention, inputs: Activations, at: Pass) -> Activations:
    rate = layer.dropout if at.training else 0.0
    return Activations(self_attention(layer, inputs.stacked(at), at.lengths, rate, at.compute))


@computed.register
def _convolution_module(layer: ConvolutionModule, inputs: Activations, at: Pass) -> Activations:
    rate = layer.dropout if at.training else 0.0
    return Activations(convolution_module(layer, inputs.stacked(at), at.lengths, rate, at.compute))


@computed.register
def _context_window(layer: ContextWindow, inputs: Activations, at: Pass) -> Activations:
    inside = tf.transpose(tf.sequence_mask(at.lengths, at.time, dtype=inputs.values.dtype))[:, :, None]
    return Activations(context_windows(inputs.stacked(at) * inside, layer.frames))


def _initial_state(layer: LSTM, batch: Tensor) -> LSTMState:
    zero = tf.zeros([batch, layer.units])
    return LSTMState(zero, zero)
