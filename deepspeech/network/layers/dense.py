"""Dense layers, with or without a clipped ReLU."""

from typing import Any

import tensorflow as tf

from ..description import Dense, Projection
from ..rounding import rounded_rows
from .compute import Compute, Kernels
from .dropout import dropout_seed, seeded_dropout
from .native_ops import loaded_ops
from .variables import column_factors, variables_of

Tensor = Any


def dense(layer: Dense, inputs: Tensor, rate: float, compute: Compute) -> Tensor:
    """Return the outputs [rows, units] of a layer for inputs [rows, n], with dropout of `rate`.

    With a clip c, they are min(max(0, x W + b), c) in the inputs' type, float32 or bfloat16; without a clip, they are
    x W + b in float32.
    """
    if layer.clip is None:
        inputs = tf.cast(inputs, tf.float32)
    weights, bias = variables_of(layer, inputs.shape[1])
    products = products_of(inputs, weights, compute)
    if layer.clip is None:
        return seeded_dropout(tf.nn.bias_add(products, bias), rate, compute)
    return activation(products, bias, layer.clip, rate, compute)


def projection(layer: Projection, inputs: Tensor, compute: Compute) -> Tensor:
    """Return x W + b, [rows, units], for inputs x [rows, n], in their type."""
    weights, bias = variables_of(layer, inputs.shape[1])
    return tf.nn.bias_add(products_of(inputs, weights, compute), tf.cast(bias, inputs.dtype))


def products_of(inputs: Tensor, weights: Any, compute: Compute) -> Tensor:
    """Return the products [rows, units] of inputs [rows, n] and weights, in the inputs' type."""
    after = compute.quantize_after
    return tf.matmul(rounded_rows(inputs, after), column_factors(weights, inputs.dtype, after))


def activation(products: Tensor, bias: Tensor, clip: float, rate: float, compute: Compute) -> Tensor:
    """Return the clipped ReLU of products [rows, units] and a bias, float32 [units], with dropout of `rate`.

    The outputs have the products' shape and type, float32 or bfloat16.
    """
    if compute.kernels is Kernels.NATIVE:
        seed = dropout_seed() if rate else tf.int64.min
        outputs = loaded_ops().deepspeech_activation(
            products, bias, seed, clip=clip, rate=rate, threads=compute.threads
        )
        outputs.set_shape(products.shape)
        return outputs
    biased = tf.nn.bias_add(products, tf.cast(bias, products.dtype))
    return seeded_dropout(tf.minimum(tf.nn.relu(biased), clip), rate, compute)
