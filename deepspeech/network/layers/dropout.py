"""Dropout (Srivastava et al., 2014)."""

from typing import Any

import tensorflow as tf

Tensor = Any


def dropout(values: Tensor, rate: float) -> Tensor:
    """Return values of any shape, a share `rate` of them zero and the others scaled up to keep their expectation."""
    return tf.nn.dropout(values, rate=rate) if rate else values
