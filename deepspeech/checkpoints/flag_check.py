"""Comparison of a run's flags with the checkpoint that it will use, before any long work.

It needs no TensorFlow, and reads only the descriptions of checkpoints, and the file that training starts from. What the
descriptions lack, and folders without an index file, are checked when the checkpoint is restored.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CheckpointError, NetworkError
from ..network.serialization import network_from_json
from ..options import CheckpointOptions
from ..options.checkpoints import AUTOMATIC, BEST, LAST
from ..util.storage.copies import named_for_all
from .identity import ModelIdentity, check_described_network, check_identity, misfit, read_description
from .readable import check_readable
from .weights.fitting import initial_statistics, initial_weights
from .weights.model_weights import read_initial_weights


def check_flags(options: CheckpointOptions, identity: ModelIdentity, *, trains: bool) -> None:
    """Raise CheckpointError if the checkpoint to use is of another model than `identity`, as restoring it does.

    Without a checkpoint to continue from, check the file of initial weights in the same way. Also raise it if
    TensorFlow could not read checkpoints from the folder to train in.
    """
    if trains:
        check_readable(options.directory, f"--checkpoint_dir={named_for_all(options.directory)}")
    prefix = _prefix(options, trains)
    if prefix is None:
        if trains and not any(options.directory.glob("*.index")):
            _check_initial_file(options, identity)
        return
    try:
        description = read_description(prefix)
    except CheckpointError:
        return
    if description is not None and isinstance(description.get("network"), dict):
        check_described_network(prefix, description, identity)
        _check_shapes(prefix, description["network"], identity)
        check_identity(prefix, description, identity)


def _check_initial_file(options: CheckpointOptions, identity: ModelIdentity) -> None:
    source, network = read_initial_weights(options), identity.network
    if source is None:
        return
    initial_statistics(source, identity.features)
    last = [variable for variable in network.variables if network.layer_of(variable.name) is network.layers[-1]]
    zeros = {variable.name: np.zeros(variable.shape, np.float32) for variable in last}
    onto = zeros if options.map_labels else None
    initial_weights(source, identity, options.drop_source_layers, onto)


def _prefix(options: CheckpointOptions, trains: bool) -> Path | None:
    """Return the checkpoint to continue from if the run trains, else the one to use."""
    newest, best = "checkpoint", "best_dev_checkpoint"
    if trains:
        return _named(options.directory / newest)
    if options.wanted not in (AUTOMATIC, BEST, LAST):
        return options.load_directory / options.wanted
    names = (newest, best) if options.wanted == LAST else (best, newest)
    return next(filter(None, (_named(options.load_directory / name) for name in names)), None)


def _named(index: Path) -> Path | None:
    """Return the checkpoint that an index file names, if it can be read."""
    try:
        line = re.search(r'^model_checkpoint_path: (".*")$', index.read_text(encoding="utf-8"), re.MULTILINE)
        return index.parent / json.loads(line[1]) if line else None
    except (OSError, ValueError):
        return None


def _check_shapes(prefix: Path, described: Mapping[str, Any], identity: ModelIdentity) -> None:
    ours = identity.network
    try:
        shapes = network_from_json(ours.name, ours.coefficients, described.get("layers")).shapes
    except NetworkError:
        return
    for variable in ours.variables:
        found = shapes.get(variable.name, variable.shape)
        if found != variable.shape:
            raise CheckpointError(misfit(prefix, variable, variable.name, found, identity))
