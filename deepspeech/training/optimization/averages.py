"""Moving averages of the weights, which generalize better than the weights of any one step (Polyak, 1992)."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import tensorflow as tf

from ...checkpoints.sources import average_name

v1 = tf.compat.v1


class Averages:
    """The moving averages of some variables, each in a variable on the same device."""

    def __init__(self, variables: Sequence[Any]) -> None:
        """Make the variables. They begin at zero; `Checkpoints` sets them to the initial values of the weights."""
        self._averages = {}
        for variable in variables:
            name = variable.op.name
            with v1.device(variable.device):
                self._averages[name] = (variable, _make(average_name(name), variable.shape))

    def update(self, decay: float, global_step: Any) -> Any:
        """Return the operation that updates the averages; it must run after each step.

        After step t, with d = min(decay, (1 + t) / (10 + t)), so that the first weights soon lose their influence:

            average = average - (1 - d) (average - weight)
        """
        step = tf.cast(global_step.read_value(), tf.float32)
        share = 1 - tf.minimum(decay, (1 + step) / (10 + step))
        updates = []
        for variable, average in self._averages.values():
            with v1.device(variable.device):
                difference = average.read_value() - variable.read_value()
                updates.append(average.assign_sub(share * difference))
        return tf.group(*updates)

    def in_place_of_weights(self) -> AbstractContextManager[Any]:
        """Return a context in which `v1.get_variable` returns the averages in place of a network's weights."""

        def average_of(getter: Callable[..., Any], name: str, *arguments: Any, **named: Any) -> Any:
            found = self._averages.get(name)
            return found[1] if found is not None else getter(name, *arguments, **named)

        scope: AbstractContextManager[Any] = v1.variable_scope(v1.get_variable_scope(), custom_getter=average_of)
        return scope


def _make(name: str, shape: Any) -> Any:
    return v1.get_variable(name, shape, initializer=v1.zeros_initializer(), trainable=False)
