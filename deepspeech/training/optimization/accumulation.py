"""Gradients of several batches added up for one step of the optimizer."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1
Tensor = Any

BATCHES_SEEN = "accumulated_batches"
"""The variable that counts additions of gradients, and so draws of dropout."""


class Accumulation:
    """The sum of gradients since the last step. It is empty between two steps, so checkpoints need not store it."""

    def __init__(self, summed: Sequence[tuple[Tensor, Any]], utterances: Tensor) -> None:
        """Accumulate pairs of a gradient of summed losses and its variable, and the number of their utterances."""
        self.batches_seen = v1.get_variable(BATCHES_SEEN, [], tf.int64, v1.zeros_initializer(), trainable=False)
        self._sums = [(_local(variable.op.name, variable), variable) for _, variable in summed]
        self._count = _local("utterances", utterances)
        self.empty = tf.group(*(each.initializer for each in (self._count, *(total for total, _ in self._sums))))
        with tf.control_dependencies([gradient for gradient, _ in summed]):
            seen = self.batches_seen.assign_add(1, read_value=False)
        added = [self._count.assign_add(utterances, read_value=False)]
        for (gradient, variable), (total, _) in zip(summed, self._sums, strict=True):
            with v1.device(variable.device):
                added.append(total.assign_add(gradient, read_value=False))
        self.add = tf.group(seen, *added)

    def means(self) -> list[tuple[Tensor, Any]]:
        """Return pairs of the mean over the utterances so far, including those of this run, and its variable."""
        with tf.control_dependencies([self.add]):
            count = self._count.read_value()
            means = []
            for total, variable in self._sums:
                with v1.device(variable.device):
                    means.append((total.read_value() / count, variable))
            return means

    def emptied_after(self, step: Any) -> Any:
        """Return an operation that runs `step`, then empties the sum."""
        with tf.control_dependencies([step]):
            return tf.group(
                *(each.assign(tf.zeros_like(each), read_value=False) for each in (self._count, *self._totals))
            )

    @property
    def _totals(self) -> list[Any]:
        return [total for total, _ in self._sums]


def _local(name: str, like: Any) -> Any:
    """Return a variable of zeros that checkpoints do not store."""
    with v1.device(like.device):
        return v1.get_local_variable(f"accumulated/{name}", like.shape, tf.float32, v1.zeros_initializer())
