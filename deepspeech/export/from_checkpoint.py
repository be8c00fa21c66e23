"""Export of a checkpoint as a graph that clients run, with a card that describes it."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from ..checkpoints.identity import ModelIdentity
from ..checkpoints.model_figures import ModelFigures
from ..checkpoints.store import Checkpoints
from ..checkpoints.weights.finite import check_finite
from ..network.frozen.supported import is_for_clients
from ..network.layers.normalization import DEVIATION, MEAN, statistics_variables
from ..options import Options
from ..schedule.state import TrainingState
from ..util.features import FeatureOptions
from ..util.frames.normalization import FeatureStatistics
from ..util.storage.copies import named_for_all
from .folder import GRAPH_FILE, write_export
from .formats import FORMATS, TrainedModel
from .model_card import Card, model_card

v1 = tf.compat.v1
logger = logging.getLogger(__name__)


def export(options: Options) -> Path:
    """Write the model and its card into the export folder, whole or not at all; return the path of the model.

    The checkpoint is the best of validation, or the newest if there was no validation. Raise CheckpointError
    if no checkpoint can be read or its weights are not finite, and ExportError if the model cannot be exported or
    written.
    """
    wanted = options.export
    directory = wanted.directory
    assert directory is not None
    alphabet = options.load_alphabet()
    identity = ModelIdentity(alphabet, options.features, options.model)
    exported = FORMATS[wanted.format]
    exported.check(identity.network)
    prefix, names, state, values = _values(options, identity)
    check_finite(prefix, values)
    weights = {name: values[name] for name in identity.network.shapes}
    statistics = FeatureStatistics(values[MEAN], values[DEVIATION]) if options.features.normalized else None
    model = TrainedModel(identity.network, weights, alphabet, options.features, statistics)
    files = exported.files(model, wanted)
    card = Card(names, state, ModelFigures.read(options.checkpoint_folder), identity, wanted)
    write_export(directory, files, model_card(card), remove=wanted.remove, others=exported.others)
    path = directory / exported.file
    logger.info("Exported to %s (%.1f MB)", named_for_all(path), len(files[exported.file]) / 1e6)
    if exported.file == GRAPH_FILE:
        _say_what_published_clients_lack(path, options, identity)
    return path


def _say_what_published_clients_lack(path: Path, options: Options, identity: ModelIdentity) -> None:
    lacking = []
    if not options.features.published:
        lacking.append(f"compute only {FeatureOptions().in_words}")
    if not is_for_clients(identity.network):
        lacking.append("lack the layers of its network")
    if lacking:
        logger.info(
            "%s is for this program and TensorFlow: clients of DeepSpeech 0.9 %s",
            named_for_all(path),
            " and ".join(lacking),
        )


def _values(
    options: Options, identity: ModelIdentity
) -> tuple[Path, tuple[str, ...], TrainingState | None, Mapping[str, npt.NDArray[np.float32]]]:
    """Return the checkpoint to export, its name or those of the averaged checkpoints, its progress, and its values.

    The values are by the names of the variables.
    """
    with tf.Graph().as_default() as graph:
        v1.train.get_or_create_global_step()
        zeros = v1.zeros_initializer()
        shapes = identity.network.shapes
        variables = {name: v1.get_variable(name, shape, initializer=zeros) for name, shape in shapes.items()}
        variables |= statistics_variables(identity.features)
    checkpoints = Checkpoints(options.checkpoint_folder, options.checkpoints, graph, identity)
    with v1.Session(graph=graph, config=v1.ConfigProto(device_count={"GPU": 0})) as session:
        prefix = checkpoints.choose("Exporting", trained=options.trains)
        state = checkpoints.restore(session, prefix, to_use=True)
        values: Mapping[str, Any] = session.run(variables)
    return prefix, checkpoints.restored_names, state, values
