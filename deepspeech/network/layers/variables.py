"""The variables of a layer in TensorFlow's graph."""

from typing import Any

import tensorflow as tf

from ...errors import NetworkError
from ..description import BLANK_BIAS, GLOROT, LIKELY_BLANK, ONES, OPEN_FORGET_GATE, ZEROS, Layer, Variable
from ..rounding import rounded_columns, rounded_kernel
from .compute import Compute

v1 = tf.compat.v1
Tensor = Any


def variables_of(layer: Layer, inputs: int) -> list[Any]:
    """Return a layer's float32 variables, in the order of its record; the first call in a graph makes them."""
    wanted = layer.variables(inputs)
    initializers = [_initializer(variable) for variable in wanted]
    with v1.variable_scope(layer.name, reuse=v1.AUTO_REUSE):
        return [
            v1.get_variable(variable.name.removeprefix(f"{layer.name}/"), variable.shape, initializer=initializer)
            for variable, initializer in zip(wanted, initializers, strict=True)
        ]


def factors(weights: Any, dtype: Any) -> Tensor:
    """Return weights as factors of a product; the cast is on their own device, so that the smaller type is copied."""
    with v1.device(weights.device):
        return tf.cast(weights, dtype)


def column_factors(weights: Any, dtype: Any, after: int | None) -> Tensor:
    """Return weights as `factors` does, their columns rounded to 8 bits from the global step `after` on."""
    if after is None:
        return factors(weights, dtype)
    with v1.device(weights.device):
        return tf.cast(rounded_columns(weights, after), dtype)


def kernel_factors(kernel: Any, inputs: int, compute: Compute) -> Tensor:
    """Return an LSTM's kernel as factors; its weights for `inputs` numbers and for the state are rounded separately."""
    with v1.device(kernel.device):
        return tf.cast(rounded_kernel(kernel, inputs, compute.quantize_after), compute.dtype)


def _initializer(variable: Variable) -> Any:
    initial, shape = variable.initial, variable.shape
    if initial == GLOROT:
        return v1.glorot_uniform_initializer()
    if initial == ZEROS:
        return v1.zeros_initializer()
    if initial == ONES:
        return v1.ones_initializer()
    if initial == LIKELY_BLANK:
        return v1.constant_initializer([0.0] * (shape[0] - 1) + [BLANK_BIAS])
    if initial == OPEN_FORGET_GATE:
        units = shape[0] // 4
        gates = tf.concat([tf.zeros([2 * units]), tf.ones([units]), tf.zeros([units])], axis=0)
        return lambda wanted, **_: tf.reshape(gates, wanted)
    known = ", ".join((GLOROT, ZEROS, ONES, LIKELY_BLANK, OPEN_FORGET_GATE))
    raise NetworkError(f"variable {variable.name}: there is no initial value {initial!r}; there are {known}")
