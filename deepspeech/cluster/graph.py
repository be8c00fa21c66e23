"""The graph of a cluster's worker: variables on the parameter servers, and the operations that make a step of a round.

Each parameter server has one accumulator. A worker adds one vector to it, under the number of its round: its towers'
gradients of all variables on that server, and their number of utterances. The accumulator drops gradients of earlier
rounds. The chief takes the sum out, divides it by the number of utterances and applies it. This is exactly the step
that one machine with the same number of towers takes.

`SyncReplicasOptimizer` uses the same accumulators, but it

* averages over workers rather than utterances,
* waits for ever for gradients that never come, and
* adds the gradients that are left of a failed round to the next round.

Here the coordinator knows how many gradients a round has before they are taken, and a round can be discarded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any

import tensorflow as tf

from ..network.layers.native_ops import native_ops
from ..training.graph import TrainingGraph, averages_in
from ..training.optimization.step import optimizer_step
from ..training.towers import DeviceOf, GraphSettings, Tower, build_towers, summed_gradients, variables_on

v1 = tf.compat.v1
Tensor = Any

ALIGNMENT = 16
"""Four-byte numbers in a cache line."""

MESSAGE = 1 << 18
"""A gradient of this many numbers or more is a separate message; smaller ones share messages, as each costs time."""


@dataclass(frozen=True)
class ClusterGraph:
    """A worker's graph. `training.train_step` adds a gradient to the round that is fed as `round_number`."""

    training: TrainingGraph
    round_number: Tensor  # int64 scalar
    contributions: Tensor  # int32 scalar: how many gradients `apply` takes
    apply: Any  # operation: the chief's step with the gradients of the round that is fed as `round_number`
    applied: Any  # float32 [servers]: how many utterances' gradients were in that step
    discard: Any  # operation: discards the gradients of the rounds up to `round_number`
    send: Any = None  # operation: adds the gradient to the round if `train_step` only keeps it; else None


def build_cluster_graph(
    task: int,
    parameter_servers: int,
    devices: Sequence[str],
    settings: GraphSettings,
    *,
    offers: bool = False,
    gradient_type: str = "float32",
) -> ClusterGraph:
    """Build the graph of worker `task` on its devices.

    If the worker `offers` its gradients, the parameter servers keep each gradient until it is sent or the next one
    replaces it. A kept gradient takes as much memory as the variables. Gradients are sent as `gradient_type`, float32
    or bfloat16, and summed in float32.
    """
    graph = tf.Graph()
    here = [f"/job:worker/task:{task}{device}" for device in devices]
    placed = balanced(parameter_servers)

    def towers(training: bool) -> tuple[Tower, ...]:
        return build_towers(here, settings, training=training, variables_device=placed)

    with graph.as_default(), v1.device(variables_on(placed, f"/job:worker/task:{task}/cpu:0")):
        v1.set_random_seed(settings.random_seed + task)
        global_step = v1.train.get_or_create_global_step()
        # The towers first, as on one machine: TensorFlow seeds by position, so the initial weights are the same.
        train_towers = towers(training=True) if settings.optimizer is not None else ()
        round_number = v1.placeholder(tf.int64, [], "round_number")
        contributions = v1.placeholder(tf.int32, [], "contributions")
        step = exchanged = None
        if settings.optimizer is not None:
            kept_as = f"gradients_of_worker_{task}" if offers else None
            exchanged = _Exchanged(train_towers, gradient_type, round_number, contributions, kept_as)
            with v1.device(global_step.device):  # on another device, the learning rate would be sent in each step
                step = optimizer_step(settings.optimizer, exchanged.means, None, global_step)
        with averages_in(step):
            evaluate_towers = towers(training=False)
        common = graph, train_towers, evaluate_towers
    if exchanged is None or step is None:
        training_graph = TrainingGraph(*common, None, None, global_step, None)
        return ClusterGraph(training_graph, round_number, contributions, None, None, None)
    train_step, send = (exchanged.keep, exchanged.send) if offers else (exchanged.send, None)
    training_graph = TrainingGraph(*common, train_step, exchanged.norm, global_step, step.learning_rate)
    return ClusterGraph(
        training_graph, round_number, contributions, step.apply, exchanged.utterances, exchanged.discard, send
    )


def balanced(parameter_servers: int) -> DeviceOf:
    """Return a device function that puts each variable on the parameter server with the fewest bytes so far."""
    load = [0] * parameter_servers

    def place(operation: Any) -> str:
        server = load.index(min(load))
        shape = [dimension.size for dimension in operation.get_attr("shape").dim]
        load[server] += prod(shape) * int(operation.get_attr("dtype").size)
        return f"/job:ps/task:{server}/cpu:0"

    return place


def whole_lines_first(pairs: Sequence[tuple[Tensor, Any]]) -> list[tuple[Tensor, Any]]:
    """Return gradients and their variables, those that fill whole cache lines first.

    These can be sliced out of one vector without a copy.
    """
    return sorted(pairs, key=lambda pair: pair[1].shape.num_elements() % ALIGNMENT != 0)


class _Exchanged:
    """The gradients of a worker's towers on their way to the parameter servers, and of all workers on their way back.

    `keep`, `send` and `discard` are operations; `discard` drops a round. `norm` is the norm of the worker's gradient.
    `means` are pairs of the mean gradient of a round's contributions and its variable. `utterances` [servers] is the
    number of utterances that the mean is over.
    """

    def __init__(
        self,
        towers: Sequence[Tower],
        gradient_type: str,
        round_number: Tensor,
        contributions: Tensor,
        kept_as: str | None,
    ) -> None:
        """Send gradients as `gradient_type`; with `kept_as`, the servers keep them under this name until then."""
        gradients, count = summed_gradients(towers)
        shards = _shards([(_as_sent(gradient, gradient_type), variable) for gradient, variable in gradients], count)
        self.keep = tf.group(*(shard.keep(kept_as) for shard in shards)) if kept_as else None
        self.send = tf.group(*(shard.add(round_number) for shard in shards))
        self.norm = tf.sqrt(2 * tf.add_n([shard.half_square for shard in shards]))
        self.discard = tf.group(*(shard.discard(round_number) for shard in shards))
        taken = [(shard, shard.take(round_number, contributions)) for shard in shards]
        self.means = [pair for shard, summed in taken for pair in shard.means(summed)]
        self.utterances = tf.stack([shard.utterances(summed) for shard, summed in taken])


class _Shard:
    """The gradients of the variables of one parameter server, and the accumulator there."""

    def __init__(self, device: str, pairs: Sequence[tuple[Tensor, Any]], count: Tensor) -> None:
        self._device = device
        pairs = _in_order(pairs)
        self._variables = [variable for _, variable in pairs]
        self._sizes = [variable.shape.num_elements() for variable in self._variables]
        messages = _messages([gradient for gradient, _ in pairs])
        with v1.device(device):
            self._joined, self.half_square = _joined(messages, count)
            self._accumulator = v1.ConditionalAccumulator(
                tf.float32, [sum(self._sizes) + 1], shared_name="summed_gradients", reduction_type="SUM"
            )

    def keep(self, name: str) -> Any:
        """Keep the gradients under a name; `add` then adds the kept ones."""
        with v1.device(self._device):
            kept = v1.Variable(
                tf.zeros([sum(self._sizes) + 1]), trainable=False, collections=[], name=name, use_resource=True
            )
            keeping = kept.assign(self._joined)
            self._joined = kept.read_value()
            return keeping

    def add(self, round_number: Tensor) -> Any:
        """Add the gradients to the round."""
        with v1.device(self._device):
            return self._accumulator.apply_grad(self._joined, local_step=round_number)

    def take(self, round_number: Tensor, contributions: Tensor) -> Tensor:
        """Take out the sum of the round's `contributions`, and of their numbers of utterances, float32 [numbers + 1].

        Gradients that arrive later for this round or an earlier one are dropped.
        """
        with v1.device(self._device), tf.control_dependencies([self._end_round(round_number)]):
            return self._accumulator.take_grad(contributions)

    def utterances(self, summed: Tensor) -> Tensor:
        """Return the number of utterances of a taken sum; it is sliced here, so that only this number is sent."""
        with v1.device(self._device):
            return summed[-1]

    def means(self, summed: Tensor) -> list[tuple[Tensor, Any]]:
        """Return pairs of a mean over the utterances of a taken sum, and its variable."""
        with v1.device(self._device):
            means = summed / self.utterances(summed)
            begins = accumulate(self._sizes, initial=0)
            return [
                (tf.reshape(means[begin : begin + size], variable.shape), variable)
                for begin, size, variable in zip(begins, self._sizes, self._variables, strict=False)
            ]

    def discard(self, round_number: Tensor) -> Any:
        """Empty the accumulator, and drop gradients that arrive later for this round or an earlier one."""
        with v1.device(self._device):
            with tf.control_dependencies([self._end_round(round_number)]):
                waiting = self._accumulator.num_accumulated()
            return v1.cond(waiting > 0, lambda: tf.identity(self._accumulator.take_grad(1)[0]), lambda: 0.0)

    def _end_round(self, round_number: Tensor) -> Any:
        """Drop gradients that arrive later for the round; the accumulator's step also grows by one when emptied."""
        return self._accumulator.set_global_step(round_number + 1)


def _as_sent(gradient: Tensor, gradient_type: str) -> Tensor:
    """Return a gradient as it is sent; one that its parameter server casts already arrives as bfloat16."""
    if gradient_type == "float32" or "job:ps" in gradient.device:
        return gradient
    with v1.device(gradient.device):
        return tf.cast(gradient, gradient_type)


def _in_order(pairs: Sequence[tuple[Tensor, Any]]) -> list[tuple[Tensor, Any]]:
    """Return gradients and their variables in the order in which they are joined.

    The order depends on the variables alone, since workers may compute with different types. Gradients that are
    separate messages come first, then small matrices, then vectors, both in the order of the backward pass.
    """
    large = [pair for pair in pairs if pair[1].shape.num_elements() >= MESSAGE]
    small = [pair for pair in reversed(pairs) if pair[1].shape.num_elements() < MESSAGE]
    return whole_lines_first(large) + sorted(small, key=lambda pair: pair[1].shape.rank < 2)


def _messages(gradients: Sequence[Tensor]) -> list[Tensor]:
    """Return the messages that gradients are sent in: small adjacent ones are joined if one device computes them."""
    groups: list[list[Tensor]] = []
    numbers = 0
    for gradient in map(_narrow, gradients):
        numbers += gradient.shape.num_elements()
        if groups and numbers <= MESSAGE and _go_together(groups[-1][-1], gradient):
            groups[-1].append(gradient)
        else:
            groups.append([gradient])
            numbers = gradient.shape.num_elements()
    return [group[0] if len(group) == 1 else _message(group) for group in groups]


def _go_together(first: Tensor, second: Tensor) -> bool:
    """Return whether two gradients can be joined; the types of vectors may differ, since vectors are small."""
    alike = first.dtype == second.dtype or first.shape.rank == second.shape.rank == 1
    return bool(first.device == second.device and alike)


def _message(gradients: Sequence[Tensor]) -> Tensor:
    """Return gradients as one vector, in their common type if they have one, else in float32."""
    types = {gradient.dtype for gradient in gradients}
    dtype = types.pop() if len(types) == 1 else tf.float32
    with v1.device(gradients[0].device):
        return tf.concat([tf.cast(tf.reshape(gradient, [-1]), dtype) for gradient in gradients], axis=0)


def _narrow(gradient: Tensor) -> Tensor:
    """Return a gradient without its cast from bfloat16 on the parameter server, if it has one."""
    before = gradient.op.inputs[0] if gradient.op.type == "Cast" else gradient
    return before if before.dtype == tf.bfloat16 else gradient


def _joined(messages: Sequence[Tensor], count: Tensor) -> tuple[Tensor, Tensor]:
    """Return messages and a count as one vector, float32 [numbers + 1], and half the sum of the messages' squares.

    Each message is sent as soon as it is complete.
    """
    ops = native_ops()
    if ops is None:
        parts = [tf.cast(tf.reshape(message, [-1]), tf.float32) for message in messages]
        return tf.concat([*parts, count[None]], axis=0), tf.add_n([tf.nn.l2_loss(part) for part in parts])
    joined, half_square = ops.deepspeech_join(messages, count)
    joined.set_shape([sum(message.shape.num_elements() for message in messages) + 1])
    half_square.set_shape([])
    return joined, half_square


def _shards(pairs: Sequence[tuple[Tensor, Any]], count: Tensor) -> list[_Shard]:
    devices = sorted({variable.device for _, variable in pairs})
    return [_Shard(device, [pair for pair in pairs if pair[1].device == device], count) for device in devices]
