"""The graph of a worker that holds the weights itself, and the operations that make a step of a round.

A worker sums the gradients that it contributes to a round in a local variable. When the round is over, the processes
add up the sums of all workers (see `ring`), and each process applies the mean over the utterances.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import tensorflow as tf

from ...training.graph import TrainingGraph, averages_in
from ...training.optimization.step import optimizer_step
from ...training.towers import GraphSettings, build_towers, summed_gradients
from ..graph import whole_lines_first

v1 = tf.compat.v1
Tensor = Any


@dataclass(frozen=True)
class AllReduceGraph:
    """A worker's graph. `training.train_step` adds a gradient to those kept for the round fed as `round_number`.

    Without an optimizer, the fields that have a default are None.
    """

    training: TrainingGraph
    round_number: Tensor  # int64 scalar
    values: tuple[Tensor, ...]  # of all variables in checkpoints
    take_values: Any  # operation: sets those variables to the values fed as `given`
    given: tuple[Tensor, ...]
    begin: Any  # operation: initializes the variables that are not in checkpoints
    kept_round: Tensor = None  # int64 scalar: the round that gradients are kept for
    kept: Tensor = None  # float32 [weights]: their sum
    kept_count: Tensor = None  # float32 scalar: the number of their utterances
    mean: Tensor = None  # float32 [weights], to feed: the mean gradient over all workers' utterances
    apply: Any = None  # operation: makes the step with the mean gradient
    send: Any = None  # always None: gradients are not offered, and are sent only when the round is over


def build_all_reduce_graph(task: int, devices: Sequence[str], settings: GraphSettings) -> AllReduceGraph:
    """Build the graph of worker `task` on its devices."""
    graph = tf.Graph()
    with graph.as_default():
        v1.set_random_seed(settings.random_seed + task)
        global_step = v1.train.get_or_create_global_step()
        # The towers first, as on one machine: TensorFlow seeds by position, so the initial weights are the same.
        train_towers = build_towers(devices, settings, training=True) if settings.optimizer is not None else ()
        round_number = v1.placeholder(tf.int64, [], "round_number")
        sums = step = mean = None
        if settings.optimizer is not None:
            sums = _Sums(*summed_gradients(train_towers), round_number)
            mean = v1.placeholder(tf.float32, sums.kept.shape, "mean_gradient")
            step = optimizer_step(settings.optimizer, sums.by_variable(mean), None, global_step)
        with averages_in(step):
            evaluate_towers = build_towers(devices, settings, training=False)
        variables = v1.global_variables()
        given = tuple(v1.placeholder(variable.dtype.base_dtype, variable.shape) for variable in variables)
        take = [variable.assign(value, read_value=False) for variable, value in zip(variables, given, strict=True)]
        training_graph = TrainingGraph(
            graph,
            train_towers,
            evaluate_towers,
            sums and sums.add,
            sums and sums.norm,
            global_step,
            step and step.learning_rate,
        )
        values = tuple(variable.read_value() for variable in variables)
        common = (training_graph, round_number, values, tf.group(*take), given, v1.local_variables_initializer())
    if sums is None or step is None:
        return AllReduceGraph(*common)
    return AllReduceGraph(*common, sums.round, sums.kept, sums.count, mean, step.apply)


class _Sums:
    """The sum of a round's gradients, in one vector."""

    def __init__(self, pairs: Sequence[tuple[Tensor, Any]], utterances: Tensor, round_number: Tensor) -> None:
        pairs = whole_lines_first(pairs)
        self._variables = [variable for _, variable in pairs]
        self._sizes = [variable.shape.num_elements() for variable in self._variables]
        with v1.device(self._variables[0].device):
            gradients = tf.concat([tf.reshape(gradient, [-1]) for gradient, _ in pairs], axis=0)
            self.norm = tf.sqrt(2 * tf.nn.l2_loss(gradients))
            kept = _local("summed_gradients", [sum(self._sizes)], tf.float32)
            self.kept = kept.read_value()
        count, kept_round = _local("summed_utterances", [], tf.float32), _local("round_of_sums", [], tf.int64)
        self.count, self.round = count.read_value(), kept_round.read_value()

        def begin() -> Any:
            return tf.group(kept.assign(gradients, read_value=False), count.assign(utterances, read_value=False))

        def go_on() -> Any:
            return tf.group(
                kept.assign_add(gradients, read_value=False), count.assign_add(utterances, read_value=False)
            )

        added = v1.cond(tf.equal(kept_round.read_value(), round_number), go_on, begin)
        with tf.control_dependencies([added]):
            self.add = kept_round.assign(round_number, read_value=False)

    def by_variable(self, vector: Tensor) -> list[tuple[Tensor, Any]]:
        """Return pairs of a part of a vector of all gradients, in its variable's shape, and the variable."""
        begins = accumulate(self._sizes, initial=0)
        pairs = []
        for begin, size, variable in zip(begins, self._sizes, self._variables, strict=False):
            with v1.device(variable.device):
                pairs.append((tf.reshape(vector[begin : begin + size], variable.shape), variable))
        return pairs


def _local(name: str, shape: Sequence[int], dtype: Any) -> Any:
    """Return a variable of zeros that checkpoints leave out."""
    return v1.get_local_variable(name, shape, dtype, v1.zeros_initializer(), use_resource=True)
