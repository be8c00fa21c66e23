"""The weights of a checkpoint, and a checkpoint made from weights."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from ...errors import CheckpointError, FeatureError, NetworkError
from ...network import Network
from ...network.deepspeech import UNNAMED_NETWORK
from ...network.deepspeech import layers as layers_of_deepspeech
from ...network.description import Shape, Sizes
from ...network.serialization import network_from_json
from ...options.checkpoints import AUTOMATIC
from ...schedule.state import TrainingState
from ...util.features import FeatureOptions
from ...util.files.writable import reason_of
from ...util.frames.normalization import DEVIATION, MEAN
from ..choice import choose
from ..folder import Kind, checkpoints_in, names_checkpoints, remove_failed, write_index
from ..identity import DESCRIPTION_FORMAT, read_description, write_description
from ..integrity import damage, finished, unfinished
from ..lock import locked_for_training
from ..recovery import best_of, find_intact
from ..sources import mean_of, open_checkpoint, removal_in_words, source_of
from .finite import check_finite
from .model_weights import LayerWeights, ModelWeights, by_layers, is_graph

v1 = tf.compat.v1
logger = logging.getLogger(__name__)

PARTS_OF_IDENTITY = ("format", "output_unit", "alphabet", "features", "model", "network")
"""The parts of a checkpoint's description that are about its weights; the rest is the training progress."""


def weights_of_checkpoint_file(path: Path, wanted: str = AUTOMATIC) -> ModelWeights:
    """Read a checkpoint of any generation; moving averages replace the weights, as in tests and exports.

    `path` is its name without extension, its file `.index`, or a folder, where `wanted` selects the checkpoint.
    Where training keeps several best checkpoints of a folder to use their mean, so does this, unless `wanted` names
    one. Raise CheckpointError.
    """
    prefixes = _chosen(path, wanted) if path.is_dir() else [_intact(path)]
    with removal_in_words(*prefixes):
        return _mean([_read(prefix) for prefix in prefixes])


def _mean(read: Sequence[ModelWeights]) -> ModelWeights:
    """Return the weights of one checkpoint, or the means of those of several in a folder, described as the first."""
    first = read[0]
    if len(read) == 1:
        return first
    shapes = {name: value.shape for name, value in first.values.items()}
    for other in read[1:]:
        if {name: value.shape for name, value in other.values.items()} != shapes:
            raise CheckpointError(f"{first.origin} and {other.origin} are of different models; name one of them")
    logger.info("The weights are the mean of %s", ", ".join(Path(each.origin).name for each in read))
    values = {name: mean_of([each.values[name] for each in read]) for name in shapes}
    layers = (LayerWeights(each.name, {name: values[name] for name in each.weights}) for each in first.layers)
    origin = f"{Path(first.origin).parent} (mean of {len(read)} checkpoints)"
    return replace(first, origin=origin, layers=tuple(layers))


def _read(prefix: Path) -> ModelWeights:
    description = {name: value for name, value in (read_description(prefix) or {}).items() if name in PARTS_OF_IDENTITY}
    reader = open_checkpoint(prefix)
    shapes = reader.get_variable_to_shape_map()
    network = _network(str(prefix), description, shapes)
    values = {}
    for variable in network.variables:
        source = source_of(variable.name, variable, shapes, averaged=True)
        if source is None:
            raise CheckpointError(f"{prefix}: has no variable {variable.name} of the network {network.name}")
        values[variable.name] = source.read(reader)
    values |= {name: reader.get_tensor(name) for name in (MEAN, DEVIATION) if name in shapes}
    return ModelWeights(str(prefix), by_layers(network, values), description)


def write_checkpoint(folder: Path, source: ModelWeights) -> Path:
    """Write weights as the only checkpoint of a folder, for training to start from; return its path without extension.

    The optimizer starts again, with step 0. Raise CheckpointError if the folder already has a checkpoint, or if the
    weights are not finite, or not exactly those of the network and the alphabet in their description.
    """
    begin = f"; train from it with deepspeech-train {_flag_to_begin_with(source)}, whose other flags describe the model"
    if not source.description:
        raise CheckpointError(
            f"{source.origin}: does not describe the model of its weights, as a file of deepspeech-weights does{begin}"
        )
    network = _check_complete(source)
    if source.labels is None:
        raise CheckpointError(f"{source.origin}: does not contain the alphabet of its weights{begin}")
    if len(source.labels) + 1 != network.outputs:
        raise CheckpointError(
            f"{source.origin}: its alphabet has {len(source.labels)} labels, but its last layer {network.outputs} "
            f"outputs, one for each label and one for the blank{begin}"
        )
    with locked_for_training(folder, str(folder)):
        prefix = folder / f"{Kind.NEWEST.prefix}-0"
        _check_empty(folder, prefix)
        description = {
            **source.description,
            "format": DESCRIPTION_FORMAT,
            "global_step": 0,
            "state": TrainingState().to_json(),
        }
        try:
            _write(prefix, {**source.values, "global_step": np.array(0, np.int64)}, description)
            write_index(folder, Kind.NEWEST, [prefix])
        except (OSError, tf.errors.OpError) as error:
            remove_failed(prefix)
            raise CheckpointError(f"{prefix}: checkpoint cannot be written ({reason_of(error)})") from error
    return prefix


def _check_empty(folder: Path, prefix: Path) -> None:
    """Raise CheckpointError if a folder holds checkpoints, except for one whose write was killed before its listing."""
    there = [each for kind in Kind for each in checkpoints_in(folder, kind)]
    if there and (there != [prefix] or (folder / Kind.NEWEST.index_file).exists()):
        raise CheckpointError(f"{folder}: holds checkpoints already; name another folder")


def _intact(path: Path) -> Path:
    """Return a checkpoint's path without extension; raise CheckpointError if it is damaged."""
    prefix = path.with_name(path.name.removesuffix(".index"))
    trouble = damage(prefix)
    if trouble:
        raise CheckpointError(f"{path}: {trouble}")
    return prefix


def _chosen(folder: Path, wanted: str) -> list[Path]:
    """Return the intact checkpoint of a folder that `wanted` selects, and those whose mean with it training uses."""
    if not names_checkpoints(folder):
        raise CheckpointError(f"{folder}: is a folder that holds no checkpoint; name another one, or a file")
    prefix = choose(folder, wanted, lambda kind: find_intact(folder, kind, set()), "Reading weights")
    best = checkpoints_in(folder, Kind.BEST)
    return best_of(folder, len(best), prefix) if prefix in best and prefix.name != wanted else [prefix]


def _network(origin: str, description: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Network:
    """Return the network that a description names, or DeepSpeech's, with sizes that follow from the shapes."""
    described = description.get("network")
    try:
        if not isinstance(described, dict):
            return _unnamed_network(shapes)
        width = FeatureOptions(**description.get("features", {})).width
        return network_from_json(str(described["name"]), width, described["layers"])
    except KeyError as error:
        raise CheckpointError(f"{origin}: has no {error.args[0]}, as a network of DeepSpeech does") from None
    except (NetworkError, FeatureError, TypeError, IndexError) as error:
        raise CheckpointError(f"{origin}: its network cannot be computed here ({error})") from None


def _unnamed_network(shapes: Mapping[str, Shape]) -> Network:
    """Return the network `deepspeech` with sizes that follow from the shapes; raise KeyError."""
    sizes = Sizes(1, 1, n_hidden=1, relu_clip=1, context=0, dropout_rates=(0.0,) * 6)
    unsized = Network(UNNAMED_NETWORK, 1, layers_of_deepspeech(sizes))
    older = {each.name: each.older_name for each in unsized.variables}
    found = {name: tuple(shapes[name] if older[name] not in shapes else shapes[older[name]]) for name in older}
    return replace(unsized.resized(found), coefficients=next(iter(found.values()))[0])


def _flag_to_begin_with(source: ModelWeights) -> str:
    """Return the trainer's flag for weights from this kind of file."""
    path = Path(source.origin)
    if is_graph(path):
        return "--initialize_from_frozen_model"
    return "--initialize_from_weights" if path.is_file() else "--load_checkpoint_dir"


def _check_complete(source: ModelWeights) -> Network:
    network = _network(source.origin, source.description, {name: value.shape for name, value in source.values.items()})
    shapes, features = dict(network.shapes), source.features
    if features is not None and features.normalized:
        shapes |= dict.fromkeys((MEAN, DEVIATION), (features.coefficients,))
    for name, shape in shapes.items():
        value = source.values.get(name)
        if value is None:
            raise CheckpointError(f"{source.origin}: has no {name}, which its network {network.name} needs")
        if value.dtype != np.float32 or value.shape != shape:
            raise CheckpointError(
                f"{source.origin}: {name} is {value.dtype} {value.shape}, but its network {network.name} "
                f"needs float32 {shape}"
            )
    if surplus := next((name for name in source.values if name not in shapes), None):
        raise CheckpointError(f"{source.origin}: has {surplus}, which its network {network.name} does not have")
    check_finite(source.origin, source.values)
    return network


def _write(prefix: Path, values: Mapping[str, npt.NDArray[Any]], description: Mapping[str, Any]) -> None:
    write_description(prefix, unfinished(description))
    with tf.Graph().as_default() as graph:
        fed = {v1.placeholder(value.dtype, value.shape): value for value in values.values()}
        save = tf.raw_ops.SaveV2(
            prefix=str(prefix), tensor_names=list(values), shape_and_slices=[""] * len(values), tensors=list(fed)
        )
    with v1.Session(graph=graph, config=v1.ConfigProto(device_count={"GPU": 0})) as session:
        session.run(save, fed)
    write_description(prefix, finished(description, prefix))
