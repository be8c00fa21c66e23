"""The effect of 8-bit inference on a product, simulated in training: its factors are rounded, with a gradient of 1.

Weights and inputs are rounded to 127 steps on each side of zero, weights with a scale for each column, inputs with one
for each row. The row's scale is computed from the row itself, as in `native_client/acoustic/int8_kernels.inc`, so
training need not learn a range of activations. Training finds weights whose products hardly change by the rounding
(Jacob et al., 2018: Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference,
section 3).
"""

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1
Tensor = Any

LARGEST = 127
"""The integer for the largest number of a row or column."""


def rounded_columns(weights: Tensor, after: int | None) -> Tensor:
    """Return float32 weights [rows, columns] with each column rounded to 8 bits from a global step on; None: never."""
    return _rounded_after(weights, 0, after)


def rounded_rows(values: Tensor, after: int | None) -> Tensor:
    """Return values [..., n], float32 or bfloat16, with each row of n rounded to 8 bits from a global step on."""
    return _rounded_after(values, -1, after)


def rounded_kernel(kernel: Tensor, inputs: int, after: int | None) -> Tensor:
    """Return an LSTM's kernel; its weights for `inputs` numbers and for the state are rounded separately."""
    if after is None:
        return kernel
    parts = tf.split(kernel, [inputs, kernel.shape[0] - inputs], axis=0)
    return tf.concat([rounded_columns(part, after) for part in parts], axis=0)


def _rounded_after(values: Tensor, axis: int, after: int | None) -> Tensor:
    if after is None:
        return values
    values = tf.convert_to_tensor(values)
    begun = v1.train.get_or_create_global_step() >= after
    rounded = tf.cond(begun, lambda: _straight_through(values, axis), lambda: tf.identity(values))
    rounded.set_shape(values.shape)
    return rounded


def _straight_through(values: Tensor, axis: int) -> Tensor:
    """Return rounded values, with the gradient of the values before rounding."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def rounded(exact: Tensor) -> tuple[Tensor, Any]:
        numbers = tf.cast(exact, tf.float32)
        largest = tf.reduce_max(tf.abs(numbers), axis=axis, keepdims=True)
        scales = tf.maximum(largest, 1e-30) / LARGEST
        return tf.cast(tf.round(numbers / scales) * scales, exact.dtype), lambda gradient: gradient

    return rounded(values)
