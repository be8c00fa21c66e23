"""The acoustic model: feature frames in, one logit for each label and the blank out.

Three clipped-ReLU layers look at a frame and its neighbours, an LSTM runs over time, a clipped-ReLU layer and a linear
one follow (Hannun et al., "Deep Speech", 2014, with an LSTM in place of the bidirectional recurrence, as in
DeepSpeech 0.9, whose variable names it keeps).
"""

from typing import Any

import tensorflow as tf

from .lstm import LSTMState, lstm
from .options import ModelOptions
from .util.features import FeatureOptions
from .variable_names import LSTM_SCOPE

v1 = tf.compat.v1
Tensor = Any


def acoustic_model(
    features: Tensor,
    lengths: Tensor,
    *,
    label_count: int,
    feature_options: FeatureOptions,
    options: ModelOptions,
    training: bool,
) -> Tensor:
    """Return logits [time, batch, label_count + 1] for float32 features [batch, time, coefficients].

    `lengths` is int32 [batch] in frames; what lies beyond is padding and must be zero. The blank is the last label.
    Dropout is active only when `training`. Variables are made on the first call in a graph and shared by later ones.
    """
    windows = context_windows(tf.transpose(features, [1, 0, 2]), feature_options)
    batch = tf.shape(features)[0]
    zero = tf.zeros([batch, options.n_hidden])
    logits, _ = logits_of_windows(
        windows, lengths, LSTMState(zero, zero), label_count=label_count, options=options, training=training
    )
    return logits


def context_windows(features: Tensor, options: FeatureOptions) -> Tensor:
    """Put every frame between its neighbours: [time, batch, n] becomes [time, batch, (2 * context + 1) * n].

    Frames before the first and after the last are zero.
    """
    time = tf.shape(features)[0]
    padded = tf.pad(features, [[options.context, options.context], [0, 0], [0, 0]])
    shifted = [padded[offset : offset + time] for offset in range(2 * options.context + 1)]
    windows = tf.concat(shifted, axis=2)
    windows.set_shape([None, None, (2 * options.context + 1) * options.coefficients])
    return windows


def logits_of_windows(
    windows: Tensor, lengths: Tensor, state: LSTMState, *, label_count: int, options: ModelOptions, training: bool
) -> tuple[Tensor, LSTMState]:
    """Return logits [time, batch, label_count + 1] and the LSTM's last state for windows [time, batch, n_input]."""
    rates = options.dropout_rates if training else (0.0,) * 6
    n_hidden = options.n_hidden

    layer = windows
    for number, rate in enumerate(rates[:3], start=1):
        layer = _dropout(_clipped_relu(_dense(layer, n_hidden, f"layer_{number}"), options), rate)

    kernel, bias = _lstm_variables(n_hidden)
    layer, new_state = lstm(_dropout(layer, rates[3]), lengths, kernel, bias, state)
    layer = _dropout(layer, rates[4])

    layer = _dropout(_clipped_relu(_dense(layer, n_hidden, "layer_5"), options), rates[5])
    return _dense(layer, label_count + 1, "layer_6"), new_state


def variable_shapes(label_count: int, options: ModelOptions, features: FeatureOptions) -> dict[str, tuple[int, ...]]:
    """The name and shape of every variable of the model."""
    n_hidden = options.n_hidden
    n_input = (2 * features.context + 1) * features.coefficients
    shapes: dict[str, tuple[int, ...]] = {}
    for name, rows, columns in (
        ("layer_1", n_input, n_hidden),
        ("layer_2", n_hidden, n_hidden),
        ("layer_3", n_hidden, n_hidden),
        ("layer_5", n_hidden, n_hidden),
        ("layer_6", n_hidden, label_count + 1),
    ):
        shapes[f"{name}/weights"] = (rows, columns)
        shapes[f"{name}/bias"] = (columns,)
    shapes[f"{LSTM_SCOPE}/kernel"] = (2 * n_hidden, 4 * n_hidden)
    shapes[f"{LSTM_SCOPE}/bias"] = (4 * n_hidden,)
    return shapes


def _dense(inputs: Tensor, units: int, name: str) -> Tensor:
    """A linear layer over the last axis of [time, batch, n]."""
    n_input = inputs.shape[2]
    with v1.variable_scope(name, reuse=v1.AUTO_REUSE):
        weights = v1.get_variable("weights", [n_input, units], initializer=v1.glorot_uniform_initializer())
        bias = v1.get_variable("bias", [units], initializer=v1.zeros_initializer())
    time, batch = tf.unstack(tf.shape(inputs)[:2])
    outputs = tf.nn.bias_add(tf.matmul(tf.reshape(inputs, [time * batch, n_input]), weights), bias)
    return tf.reshape(outputs, [time, batch, units])


def _lstm_variables(n_hidden: int) -> tuple[Tensor, Tensor]:
    """The LSTM's kernel and bias; the forget gate starts open (Jozefowicz et al., 2015)."""
    open_forget_gate = tf.concat([tf.zeros([2 * n_hidden]), tf.ones([n_hidden]), tf.zeros([n_hidden])], axis=0)
    with v1.variable_scope(LSTM_SCOPE, reuse=v1.AUTO_REUSE):
        kernel = v1.get_variable("kernel", [2 * n_hidden, 4 * n_hidden], initializer=v1.glorot_uniform_initializer())
        bias = v1.get_variable(
            "bias", [4 * n_hidden], initializer=lambda shape, **_: tf.reshape(open_forget_gate, shape)
        )
    return kernel, bias


def _clipped_relu(values: Tensor, options: ModelOptions) -> Tensor:
    return tf.minimum(tf.nn.relu(values), options.relu_clip)


def _dropout(values: Tensor, rate: float) -> Tensor:
    return tf.nn.dropout(values, rate=rate) if rate else values
