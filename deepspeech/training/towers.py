"""Towers: one copy of the model per device. Each has its own batch; all share the variables.

The towers' gradients are those of the *sum* of their utterances' losses. Their sum over the towers, divided by the
number of all utterances, is the gradient of the mean loss of the joined batch, even if the batches differ in size.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from ..errors import NetworkError
from ..network import Network
from ..network.ctc import ctc_loss
from ..network.layers.compute import Compute, compute_on, is_gpu
from ..network.layers.normalization import normalized
from ..network.training import Outputs, outputs_of
from ..options import OptimizerOptions, Options, SessionOptions
from ..util.batching.lengths import few_lengths, longest_of_batch
from ..util.features import FeatureOptions
from ..util.feeding import LABEL_PADDING, Batch

v1 = tf.compat.v1
Tensor = Any
DeviceOf = Callable[[Any], str]
"""Returns the device of an operation."""

PLAIN_FEATURES = FeatureOptions()
"""Features that are not normalized."""

VARIABLES_DEVICE = "/cpu:0"
"""The device of the variables that several towers share."""


@dataclass(frozen=True)
class GraphSettings:
    """The settings of a training process's graph, except for its devices."""

    network: Network
    session: SessionOptions
    random_seed: int
    optimizer: OptimizerOptions | None = None
    """None: the graph can only evaluate."""
    features: FeatureOptions = PLAIN_FEATURES
    """The towers normalize their inputs as these options say."""

    @classmethod
    def of(cls, options: Options, network: Network, *, trains: bool) -> "GraphSettings":
        """Return the settings of a program with these options, whose graph trains or only evaluates."""
        optimizer = options.optimizer if trains else None
        return cls(network, options.session, options.random_seed, optimizer, options.features)


@dataclass(frozen=True)
class Tower:
    """One device's copy of the model, as the tensors to feed and to fetch."""

    features: Tensor  # float32 [batch, time, width], before they are normalized
    lengths: Tensor  # int32 [batch], frames
    labels: Tensor  # int32 [batch, labels], padded with -1
    weight: Tensor  # float32 scalar: 1, or 0 for a tower that has no batch in this step
    losses: Tensor  # float32 [batch], nats
    minimized: Tensor  # float32 [batch]: the losses, those of inner layers included
    posteriors: Tensor  # float32 [rows, batch, labels + 1]
    best_path: Tensor  # int32 [rows, batch], see `_best_path`; None in a tower that trains
    device: DeviceOf  # where its operations go


def build_towers(
    devices: Sequence[str],
    settings: GraphSettings,
    *,
    training: bool,
    variables_device: DeviceOf | None = None,
) -> tuple[Tower, ...]:
    """Build a tower on each device, such as "/gpu:0", in the current graph.

    `variables_device` places each variable. Without it, the variables of a single tower are on its device, those of
    several towers on the CPU.
    """
    if variables_device is None:
        here = VARIABLES_DEVICE if len(devices) > 1 else devices[0]

        def variables_device(_: Any) -> str:
            return here

    towers = []
    for index, device in enumerate(devices):
        scope = f"{'train' if training else 'evaluate'}_tower_{index}"
        place = variables_on(variables_device, device)
        compute = compute_on(device, settings.session, training=training)
        with v1.device(place), tf.name_scope(scope):
            towers.append(_build_tower(settings, training, compute, place))
    return tuple(towers)


def variables_on(variables_device: DeviceOf, operations_device: str) -> DeviceOf:
    """Return a device function: `variables_device` places each variable; other operations are on `operations_device`.

    Operations that already have a device keep it.
    """

    def place(operation: Any) -> str:
        if operation.device:
            return str(operation.device)
        return variables_device(operation) if operation.type in ("VarHandleOp", "VariableV2") else operations_device

    return place


def summed_gradients(towers: Sequence[Tower]) -> tuple[list[tuple[Tensor, Any]], Tensor]:
    """Return each variable's gradient of the summed loss of all the towers' utterances, and their number.

    Each gradient is float32 in the variable's shape, the number a float32 scalar.
    """
    return _gradients(towers, tf.constant(1.0)), _utterances(towers)


def mean_gradients(towers: Sequence[Tower]) -> list[tuple[Tensor, Any]]:
    """Return each variable's gradient of the mean loss of all the towers' utterances, float32 in its shape."""
    return _gradients(towers, 1 / _utterances(towers))


def _utterances(towers: Sequence[Tower]) -> Tensor:
    return tf.add_n([tower.weight * tf.cast(tf.shape(tower.lengths)[0], tf.float32) for tower in towers])


def _gradients(towers: Sequence[Tower], scale: Tensor) -> list[tuple[Tensor, Any]]:
    """Return each variable's gradient of the towers' summed loss times `scale`.

    Raise NetworkError for a variable that the loss does not depend on; a user's own layers may have such variables.
    """
    variables = v1.trainable_variables()
    of_towers = []
    for tower in towers:
        with v1.device(tower.device):
            of_towers.append(
                tf.gradients(tower.minimized, variables, tf.fill(tf.shape(tower.lengths), tower.weight * scale))
            )
    for gradient, variable in zip(of_towers[0], variables, strict=True):
        if gradient is None:
            raise NetworkError(
                f"variable {variable.op.name}: no gradient of the loss reaches it, so it cannot be trained; remove it "
                "from its layer's record, or let the layers after it pass gradients on"
            )
    return [(_sum(of_one), variable) for of_one, variable in zip(zip(*of_towers, strict=True), variables, strict=True)]


def _sum(gradients: Sequence[Tensor]) -> Tensor:
    """Return the sum, on the device of the first gradient, which is the variable's if `factors` casts there."""
    with v1.device(gradients[0].device):
        return gradients[0] if len(gradients) == 1 else tf.add_n(gradients)


def feeds(towers: Sequence[Tower], batches: Sequence[Batch]) -> dict[Tensor, Any]:
    """Return the feeds of all towers, one batch each; there may be fewer batches than towers.

    Towers without a batch get an utterance of the first batch with weight 0.
    """
    fed: dict[Tensor, Any] = {}
    for index, tower in enumerate(towers):
        idle = index >= len(batches)
        batch = batches[0] if idle else batches[index]
        some = slice(0, 1) if idle else slice(None)
        fed |= {
            tower.features: batch.features[some],
            tower.lengths: batch.lengths[some],
            tower.labels: batch.labels[some],
            tower.weight: np.float32(0 if idle else 1),
        }
    return fed


def compute_devices() -> tuple[str, ...]:
    """Return the devices that get a tower: all GPUs, or the CPU if there are no GPUs."""
    gpus = tf.config.list_physical_devices("GPU")
    return tuple(f"/gpu:{index}" for index in range(len(gpus))) or ("/cpu:0",)


def padded_length_for(devices: Sequence[str]) -> Callable[[int], int]:
    """Return a function from the longest utterance's length to the padded length of its batch, in frames.

    For GPUs it has few values: there TensorFlow searches for the fastest algorithm of a convolution for each new shape,
    which takes longer than several steps.
    """
    return few_lengths if any(map(is_gpu, devices)) else longest_of_batch


def _build_tower(settings: GraphSettings, training: bool, compute: Compute, device: DeviceOf) -> Tower:
    network = settings.network
    features = v1.placeholder(tf.float32, [None, None, network.coefficients], "features")
    lengths = v1.placeholder(tf.int32, [None], "lengths")
    labels = v1.placeholder(tf.int32, [None, None], "labels")
    weight = v1.placeholder(tf.float32, [], "weight")
    inputs = normalized(features, lengths, settings.features)
    outputs = outputs_of(network, inputs, lengths, training=training, compute=compute)
    losses = ctc_loss(labels, outputs.logits, outputs.lengths, compute)
    posteriors = tf.nn.softmax(outputs.logits)
    # Towers that train have none: TensorFlow seeds dropout by position, which each further operation would change.
    best_path = None if training else _best_path(outputs.logits, outputs.lengths, network.outputs - 1)
    minimized = _minimized(losses, outputs, labels, compute)
    return Tower(features, lengths, labels, weight, losses, minimized, posteriors, best_path, device)


def _minimized(losses: Tensor, outputs: Outputs, labels: Tensor, compute: Compute) -> Tensor:
    """Return the losses combined with those of inner layers; see `deepspeech.network.IntermediateCTC`."""
    inner = [(weight, ctc_loss(labels, of.logits, of.lengths, compute)) for weight, of in outputs.intermediate]
    if not inner:
        return losses
    share = sum(weight for weight, _ in inner)
    return tf.add_n([(1 - share) * losses, *(weight * loss for weight, loss in inner)])


def _best_path(logits: Tensor, lengths: Tensor, blank: int) -> Tensor:
    """Return the most likely label of each row, int32 [rows, batch]; LABEL_PADDING for blanks and beyond the ends.

    `logits` are float32 [rows, batch, labels + 1], `lengths` int32 [batch], in rows.
    """
    likeliest = tf.argmax(logits, -1, output_type=tf.int32)
    inside = tf.transpose(tf.sequence_mask(lengths, tf.shape(logits)[0]))
    return tf.where(inside & (likeliest < blank), likeliest, LABEL_PADDING)
