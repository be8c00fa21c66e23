"""The acoustic model: feature frames in, one logit for each label and the blank out.

Three clipped-ReLU layers look at a frame and its neighbours, an LSTM runs over time, a clipped-ReLU layer and a linear
one follow (Hannun et al., "Deep Speech", 2014, with an LSTM in place of the bidirectional recurrence, as in
DeepSpeech 0.9, whose variable names it keeps).
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..options import ModelOptions
from ..util.features import FeatureOptions
from .layers.compute import Compute, Kernels
from .layers.lstm import LSTMState, lstm
from .layers.native_ops import native_ops
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
    compute: Compute | None = None,
) -> Tensor:
    """Return logits [time, batch, label_count + 1] for float32 features [batch, time, coefficients].

    `lengths` is int32 [batch] in frames; what lies beyond is padding and must be zero. The blank is the last label.
    `compute` says how; without it, in TensorFlow's own operations and float32.
    Dropout is active only when `training`. Variables are made on the first call in a graph and shared by later ones.
    """
    compute = compute or Compute()
    windows = context_windows(tf.cast(tf.transpose(features, [1, 0, 2]), compute.dtype), feature_options)
    batch = tf.shape(features)[0]
    zero = tf.zeros([batch, options.n_hidden])
    return _logits(
        windows,
        lengths,
        LSTMState(zero, zero),
        label_count=label_count,
        options=options,
        rates=options.dropout_rates if training else (0.0,) * 6,
        compute=compute,
    )


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


def _logits(
    windows: Tensor,
    lengths: Tensor,
    state: LSTMState,
    *,
    label_count: int,
    options: ModelOptions,
    rates: Sequence[float],
    compute: Compute,
) -> Tensor:
    """Return float32 logits [time, batch, label_count + 1] for windows [time, batch, n_input]."""
    n_hidden = options.n_hidden
    time, batch = tf.unstack(tf.shape(windows)[:2])

    def layer(inputs: Tensor, number: int, rate: float) -> Tensor:
        products, bias = _products(inputs, n_hidden, f"layer_{number}")
        return activation(products, bias, options.relu_clip, rate, compute)

    hidden = tf.reshape(windows, [time * batch, windows.shape[2]])
    for number, rate in enumerate(rates[:3], start=1):
        hidden = layer(hidden, number, rate)

    kernel, lstm_bias = _lstm_variables(n_hidden)
    hidden = tf.reshape(_dropout(hidden, rates[3]), [time, batch, n_hidden])
    hidden, _ = lstm(hidden, lengths, _factors(kernel, compute.dtype), lstm_bias, state, compute)
    hidden = tf.reshape(_dropout(hidden, rates[4]), [time * batch, n_hidden])

    hidden = layer(hidden, 5, rates[5])
    products, bias = _products(tf.cast(hidden, tf.float32), label_count + 1, "layer_6")
    return tf.reshape(tf.nn.bias_add(products, bias), [time, batch, label_count + 1])


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


def activation(products: Tensor, bias: Tensor, clip: float, rate: float, compute: Compute) -> Tensor:
    """The clipped ReLU of products [rows, units] and a bias, with dropout of `rate`, in the products' type."""
    if compute.kernels is Kernels.NATIVE:
        ops = native_ops()
        assert ops is not None
        seed = tf.random.uniform([], minval=tf.int64.min, maxval=tf.int64.max, dtype=tf.int64) if rate else tf.int64.min
        outputs = ops.deepspeech_activation(products, bias, seed, clip=clip, rate=rate, threads=compute.threads)
        outputs.set_shape(products.shape)
        return outputs
    biased = tf.nn.bias_add(products, tf.cast(bias, products.dtype))
    return _dropout(tf.minimum(tf.nn.relu(biased), clip), rate)


def _products(inputs: Tensor, units: int, name: str) -> tuple[Tensor, Any]:
    """The products of inputs [rows, n] and a layer's weights, in the inputs' type, and the layer's bias."""
    with v1.variable_scope(name, reuse=v1.AUTO_REUSE):
        weights = v1.get_variable("weights", [inputs.shape[1], units], initializer=v1.glorot_uniform_initializer())
        bias = v1.get_variable("bias", [units], initializer=v1.zeros_initializer())
    return tf.matmul(inputs, _factors(weights, inputs.dtype)), bias


def _factors(weights: Any, dtype: Any) -> Tensor:
    """Weights as factors of a product, cast where they live: what travels from there is what is needed here."""
    with v1.device(weights.device):
        return tf.cast(weights, dtype)


def _lstm_variables(n_hidden: int) -> tuple[Tensor, Tensor]:
    """The LSTM's kernel and bias; the forget gate starts open (Jozefowicz et al., 2015)."""
    open_forget_gate = tf.concat([tf.zeros([2 * n_hidden]), tf.ones([n_hidden]), tf.zeros([n_hidden])], axis=0)
    with v1.variable_scope(LSTM_SCOPE, reuse=v1.AUTO_REUSE):
        kernel = v1.get_variable("kernel", [2 * n_hidden, 4 * n_hidden], initializer=v1.glorot_uniform_initializer())
        bias = v1.get_variable(
            "bias", [4 * n_hidden], initializer=lambda shape, **_: tf.reshape(open_forget_gate, shape)
        )
    return kernel, bias


def _dropout(values: Tensor, rate: float) -> Tensor:
    return tf.nn.dropout(values, rate=rate) if rate else values
