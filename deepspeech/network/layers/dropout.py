"""Dropout (Srivastava et al., 2014)."""

from typing import Any

import tensorflow as tf

Tensor = Any


def dropout(values: Tensor, rate: float) -> Tensor:
    """Return values of any shape with a share `rate` of them set to zero, the others divided by 1 - rate."""
    return tf.nn.dropout(values, rate=rate) if rate else values
