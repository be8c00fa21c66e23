"""Layer normalization; its equation is in `deepspeech.network.LayerNormalization`."""

from typing import Any

import tensorflow as tf

from ..description import NORMALIZATION_EPSILON, LayerNormalization
from .compute import Compute, Kernels
from .dropout import seeded_dropout
from .native_ops import loaded_ops
from .variables import variables_of

Tensor = Any


def layer_normalization(layer: LayerNormalization, inputs: Tensor, rate: float, compute: Compute) -> Tensor:
    """Return inputs [rows, n], normalized row by row, with dropout of `rate`, in the inputs' type."""
    scale, offset = variables_of(layer, inputs.shape[1])
    return seeded_dropout(normalized(inputs, scale, offset, compute), rate, compute)


def normalized(values: Tensor, scale: Any, offset: Any, compute: Compute) -> Tensor:
    """Return values [rows, n], normalized row by row, times the scale [n], plus the offset [n], in the values' type.

    It is computed in float32.
    """
    scale, offset = tf.convert_to_tensor(scale), tf.convert_to_tensor(offset)
    if compute.kernels is not Kernels.NATIVE:
        return tf.cast(_normalized(tf.cast(values, tf.float32), scale, offset), values.dtype)
    outputs = loaded_ops().deepspeech_layer_normalization(
        values, scale, offset, epsilon=NORMALIZATION_EPSILON, threads=compute.threads
    )
    outputs.set_shape(values.shape)
    return outputs


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _normalized(inputs: Tensor, scale: Tensor, offset: Tensor) -> Any:
    """Compute the same for float32 inputs.

    With s = 1 / sqrt(v + epsilon), z = (x - m) s and dz the gradient of z, the gradient of x is
    s (dz - mean(dz) - z mean(dz z)), with means over the numbers of a row.
    """
    centred = inputs - tf.reduce_mean(inputs, 1, keepdims=True)
    inverse = tf.math.rsqrt(tf.reduce_mean(tf.square(centred), 1, keepdims=True) + NORMALIZATION_EPSILON)
    standard = centred * inverse

    def gradient(by_outputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        by_standard = by_outputs * scale
        along = tf.reduce_mean(by_standard * standard, 1, keepdims=True)
        by_inputs = inverse * (by_standard - tf.reduce_mean(by_standard, 1, keepdims=True) - standard * along)
        return by_inputs, tf.reduce_sum(by_outputs * standard, 0), tf.reduce_sum(by_outputs, 0)

    return standard * scale + offset, gradient
