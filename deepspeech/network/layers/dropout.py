"""Dropout (Srivastava et al., 2014)."""

from typing import Any

import tensorflow as tf

from .compute import Compute, Kernels
from .native_ops import loaded_ops

v1 = tf.compat.v1

Tensor = Any

_SEEDS = "dropout_seeds"
_SEEDS_AT_ONCE = "dropout_seeds_at_once"


def seeded_dropout(values: Tensor, rate: float, compute: Compute) -> Tensor:
    """Return values [..., n] with a share `rate` of them set to zero, the others divided by 1 - rate.

    A `dropout_seed` chooses them, so that a run that resumes drops the same values as a run without a break.
    """
    if not rate:
        return values
    if compute.kernels is Kernels.NATIVE:
        rows = values if values.shape.rank == 2 else tf.reshape(values, [-1, values.shape[-1]])
        outputs = loaded_ops().deepspeech_dropout(rows, dropout_seed(), rate=rate, threads=compute.threads)
        outputs = outputs if values.shape.rank == 2 else tf.reshape(outputs, tf.shape(values))
        outputs.set_shape(values.shape)
        return outputs
    return tf.nn.experimental.stateless_dropout(values, rate, tf.stack([dropout_seed(), 0]))


def dropout_seed() -> Tensor:
    """Return an int64 scalar that has a new value each time it is computed; `skip_dropout_seeds` can skip some."""
    shape = v1.placeholder_with_default(tf.zeros([0], tf.int32), [None])
    seeds = tf.random.uniform(shape, minval=tf.int64.min, maxval=tf.int64.max, dtype=tf.int64)
    v1.add_to_collection(_SEEDS_AT_ONCE, shape)
    v1.add_to_collection(_SEEDS, seeds.op)
    return tf.reshape(seeds, [])


def skip_dropout_seeds(session: Any, steps: int) -> None:
    """Make the next seeds of a session the same as in a session after this number of training steps."""
    graph = session.graph
    shapes = {shape: [steps] for shape in graph.get_collection(_SEEDS_AT_ONCE)}
    session.run(graph.get_collection(_SEEDS), shapes)
