"""Convolutions over time and frequency; their equation is in `deepspeech.network.Convolution`."""

from typing import Any

import tensorflow as tf

from ..description import Convolution
from .compute import Compute
from .dense import activation, products_of
from .variables import factors, variables_of

Tensor = Any


def convolution(layer: Convolution, inputs: Tensor, lengths: Tensor, compute: Compute) -> Tensor:
    """Return the outputs [batch, rows, frequencies, channels] for inputs of the same form, in their type.

    `lengths` is int32 [batch], in frames of the input; frames beyond count as zero.
    """
    kernel, bias = variables_of(layer, inputs.shape[2] * inputs.shape[3])
    time = tf.shape(inputs)[1]
    inside = tf.sequence_mask(lengths, time, dtype=inputs.dtype)[:, :, None, None]
    along_time = _padding(time, layer.time, layer.time_stride, layer.before)
    along_frequency = _padding(inputs.shape[2], layer.frequency, layer.frequency_stride, layer.lower)
    padded = tf.pad(inputs * inside, [[0, 0], along_time, along_frequency, [0, 0]])
    frequencies = layer.frequencies(inputs.shape[2] * inputs.shape[3])
    products = _products(layer, padded, frequencies, kernel, compute)
    if layer.clip is None:
        return tf.nn.bias_add(products, tf.cast(bias, products.dtype))
    shape = tf.shape(products)
    outputs = activation(tf.reshape(products, [-1, layer.channels]), bias, layer.clip, 0.0, compute)
    return tf.ensure_shape(tf.reshape(outputs, shape), products.shape)


def _products(layer: Convolution, padded: Tensor, frequencies: int, kernel: Any, compute: Compute) -> Tensor:
    """Return the products [batch, rows, frequencies, channels] of patches of padded inputs with a kernel."""
    strides = [layer.time_stride, layer.frequency_stride]
    skips, is_one = layer.frequency_stride > layer.frequency, layer.input_channels == frequencies == 1
    # On a processor, TensorFlow's gradient overwrites other memory if it skips inputs, and is random in bfloat16 if
    # there is one channel and one frequency.
    if compute.quantize_after is None and not (skips or is_one):
        return tf.nn.conv2d(padded, factors(kernel, padded.dtype), strides, "VALID")
    sizes, none = [1, layer.time, layer.frequency, 1], [1, 1, 1, 1]
    patches = tf.image.extract_patches(padded, sizes, [1, *strides, 1], none, "VALID")
    rows = tf.reshape(patches, [-1, layer.time * layer.frequency * layer.input_channels])  # as each patch is rounded
    products = products_of(rows, tf.reshape(kernel, [-1, layer.channels]), compute)
    return tf.reshape(products, [*tf.unstack(tf.shape(patches)[:2]), frequencies, layer.channels])


def _padding(size: Any, kernel: int, stride: int, before: int) -> list[Any]:
    """Return the numbers of zeros before and after `size` numbers, an int or int32 scalar, for ceil(size / stride)."""
    needed = ((size + stride - 1) // stride - 1) * stride + kernel
    after = needed - size - before
    return [before, tf.maximum(after, 0) if tf.is_tensor(size) else max(after, 0)]
