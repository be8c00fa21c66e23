"""The layers of a conformer block; their equations are in `deepspeech.network.description.attention`."""

from typing import Any

import tensorflow as tf

from ..description import LONGEST_WAVE, ConvolutionModule, FeedForward, Layer, SelfAttention
from .compute import Compute, Kernels
from .dense import products_of
from .dropout import seeded_dropout
from .layer_normalization import normalized
from .native_ops import loaded_ops
from .variables import factors, variables_of

Tensor = Any

UNSEEN = -1e9
"""Added to the scores of rows that are not seen; finite, so that a row that sees no rows does not become NaN."""


def feed_forward(layer: FeedForward, inputs: Tensor, rate: float, compute: Compute) -> Tensor:
    """Return the outputs [rows, width] for inputs of that shape, in their type, with dropout of `rate`."""
    of = _Variables(layer, inputs, compute)
    inner = seeded_dropout(swish(of.product("inner", of.normalized("normalization", inputs)), compute), rate, compute)
    return inputs + 0.5 * seeded_dropout(of.product("outer", inner), rate, compute)


def self_attention(layer: SelfAttention, inputs: Tensor, lengths: Tensor, rate: float, compute: Compute) -> Tensor:
    """Return the outputs [time, batch, width] for inputs of that shape, in their type, with dropout of `rate`.

    `lengths` is int32 [batch], in rows; rows beyond are not seen.
    """
    of, width = _Variables(layer, inputs, compute), inputs.shape[2]
    time, batch = tf.unstack(tf.shape(inputs)[:2])
    size = width // layer.heads
    flat = tf.reshape(inputs, [time * batch, width])
    heads = tf.reshape(of.product("inner", of.normalized("normalization", flat)), [time, batch, 3, layer.heads, size])
    queries, keys, values = tf.unstack(tf.transpose(heads, [2, 1, 3, 0, 4]))  # each [batch, heads, time, size]
    cosines, sines = (tf.cast(part, inputs.dtype) for part in rotations(tf.range(time), size))
    scores = tf.matmul(_rotated(queries, cosines, sines), _rotated(keys, cosines, sines), transpose_b=True)
    seen = sight(layer, time)[None, None] & tf.sequence_mask(lengths, time)[:, None, None]
    scores = tf.cast(scores, tf.float32) * size**-0.5 + tf.where(seen, 0.0, UNSEEN)
    means = tf.matmul(tf.cast(tf.nn.softmax(scores), inputs.dtype), values)
    joined = tf.reshape(tf.transpose(means, [2, 0, 1, 3]), [time * batch, width])
    outputs = flat + seeded_dropout(of.product("outer", joined), rate, compute)
    return tf.ensure_shape(tf.reshape(outputs, [time, batch, width]), inputs.shape)


def convolution_module(
    layer: ConvolutionModule, inputs: Tensor, lengths: Tensor, rate: float, compute: Compute
) -> Tensor:
    """Return the outputs [time, batch, width] for inputs of that shape, in their type, with dropout of `rate`.

    `lengths` is int32 [batch], in rows; rows beyond count as zero.
    """
    of, width = _Variables(layer, inputs, compute), inputs.shape[2]
    time, batch = tf.unstack(tf.shape(inputs)[:2])
    flat = tf.reshape(inputs, [time * batch, width])
    values, gates = tf.split(of.product("inner", of.normalized("normalization", flat)), 2, axis=1)
    gated = tf.reshape(values * tf.sigmoid(gates), [time, batch, width])
    inside = tf.transpose(tf.sequence_mask(lengths, time, dtype=inputs.dtype))[:, :, None]
    padded = tf.pad(tf.transpose(gated * inside, [1, 0, 2]), [[0, 0], [layer.before, layer.after], [0, 0]])
    kernel = factors(of["depthwise/kernel"], inputs.dtype)[:, None, :, None]
    by_utterance = tf.nn.depthwise_conv2d(padded[:, :, None], kernel, [1, 1, 1, 1], "VALID")[:, :, 0]
    convolved = tf.reshape(tf.transpose(by_utterance, [1, 0, 2]), [time * batch, width])
    convolved = tf.nn.bias_add(convolved, tf.cast(of["depthwise/bias"], inputs.dtype))
    inner = swish(of.normalized("second_normalization", convolved), compute)
    outputs = flat + seeded_dropout(of.product("outer", inner), rate, compute)
    return tf.ensure_shape(tf.reshape(outputs, [time, batch, width]), inputs.shape)


def swish(values: Tensor, compute: Compute) -> Tensor:
    """Return z sigmoid(z) for values z [rows, n], in their type (Ramachandran et al., 2017)."""
    if compute.kernels is not Kernels.NATIVE:
        return tf.nn.silu(values)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def with_gradient(values: Tensor) -> Any:
        return tf.nn.silu(values), lambda gradient: loaded_ops().deepspeech_swish_gradient(
            values, gradient, threads=compute.threads
        )

    return with_gradient(values)


def sight(layer: SelfAttention, time: Tensor) -> Tensor:
    """Return whether each row sees each other row, bool [time, time]; the second axis is for the seen rows."""
    rows = tf.range(time)
    if not layer.chunk:
        return tf.ones([time, time], tf.bool)
    begin = (rows // layer.chunk * layer.chunk)[:, None]
    return (rows >= begin - layer.left) & (rows < begin + layer.chunk)


def rotations(positions: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Return the cosines and sines of the positions' rotation angles, float32 [positions, size / 2]."""
    waves = LONGEST_WAVE ** (-2 * tf.range(size // 2, dtype=tf.float32) / size)
    angles = tf.cast(positions, tf.float32)[:, None] * waves
    return tf.cos(angles), tf.sin(angles)


def _rotated(values: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Rotate the pairs of numbers of values [batch, heads, time, size]."""
    first, second = tf.split(values, 2, axis=3)
    return tf.concat([first * cosines - second * sines, second * cosines + first * sines], axis=3)


class _Variables:
    """The variables of a layer by the names in its record, without the layer's name."""

    def __init__(self, layer: Layer, inputs: Tensor, compute: Compute) -> None:
        self._compute = compute
        width = inputs.shape[-1]
        names = [variable.name.removeprefix(f"{layer.name}/") for variable in layer.variables(width)]
        self._variables = dict(zip(names, variables_of(layer, width), strict=True))

    def __getitem__(self, name: str) -> Any:
        return self._variables[name]

    def product(self, name: str, values: Tensor) -> Tensor:
        """Return values [rows, n] times the weights of this name, plus their bias, in the values' type."""
        products = products_of(values, self[f"{name}/weights"], self._compute)
        return tf.nn.bias_add(products, tf.cast(self[f"{name}/bias"], values.dtype))

    def normalized(self, name: str, values: Tensor) -> Tensor:
        """Return values [rows, n] after the layer normalization of this name, in their type."""
        return normalized(values, self[f"{name}/scale"], self[f"{name}/offset"], self._compute)
