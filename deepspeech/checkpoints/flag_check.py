"""Comparison of a run's flags with the checkpoint that it will use, before any long work.

It needs no TensorFlow, and reads only the descriptions of checkpoints, and the file that training starts from. What the
descriptions lack, and folders without an index file, are checked when the checkpoint is restored.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CheckpointError, NetworkError
from ..network.serialization import network_from_json
from ..options import CheckpointOptions
from ..options.checkpoints import AUTOMATIC, BEST, LAST
from ..util.storage.copies import named_for_all
from .folder_reading import BEST_INDEX, NEWEST_INDEX, check_readable, holds_checkpoints, index_path, named_by, resumes
from .identity import (
    ANOTHER_FOLDER,
    BEGIN_WITHOUT,
    ModelIdentity,
    check_alphabet,
    check_described_network,
    check_identity,
    misfit,
    read_description,
)
from .weights.fitting import check_beginning, initial_statistics, initial_weights, mapping_of_description
from .weights.model_weights import graph_in, is_graph, read_initial_weights


def check_flags(options: CheckpointOptions, identity: ModelIdentity, *, trains: bool) -> None:
    """Raise CheckpointError if the checkpoint to use is of another model than `identity`, as restoring it does.

    Without a checkpoint to continue from, check the one in another folder that training begins with, or the file of
    initial weights, in the same way. Also raise it if TensorFlow could not read checkpoints from the folder to train
    in.
    """
    begins = False
    if trains:
        check_readable(options.directory, f"--checkpoint_dir={named_for_all(options.directory)}")
        begins = not resumes(options)
    if begins and not options.begins_elsewhere:
        _check_initial_file(options, identity)
        return
    if trains and not begins:
        prefix = named_by(options.directory / NEWEST_INDEX)
    else:
        check_named(options.load_directory, options.wanted)
        prefix = chosen_checkpoint(options, LAST if begins and not options.only_weights else BEST)
    if prefix is None:
        if begins and not holds_checkpoints(options.load_directory):
            raise nothing_to_begin_with(options.load_directory)
        return
    try:
        description = read_description(prefix)
    except CheckpointError:
        return
    if description is not None and not isinstance(description.get("network"), dict):
        return
    if begins and options.only_weights:
        _check_beginning(prefix, description or {}, options, identity)
        return
    otherwise = BEGIN_WITHOUT if begins else ANOTHER_FOLDER
    if description is None:
        check_alphabet(prefix, None, identity, otherwise)
        return
    check_described_network(prefix, description, identity, otherwise)
    _check_shapes(prefix, description["network"], identity, otherwise)
    check_identity(prefix, description, identity, otherwise)


def nothing_to_begin_with(folder: Path) -> CheckpointError:
    """Return the error for a folder without the checkpoint that training is to begin with."""
    named = named_for_all(folder)
    why = "holds no checkpoint to start from; name another folder"
    if index_path(folder).exists():
        why = f"is a checkpoint; give its folder, {named_for_all(folder.parent)}, with --checkpoint={folder.name}"
    elif is_graph(graph := graph_in(folder)):
        why = f"holds an exported graph, and no checkpoint; start from it with --initialize_from_frozen_model={graph}"
    return CheckpointError(f"--load_checkpoint_dir={named}: {why}")


def chosen_checkpoint(options: CheckpointOptions, unless_wanted: str) -> Path | None:
    """Return the checkpoint to begin with or to use: the one that the flag selects, or else `unless_wanted`.

    Return None if the index files of its folder name none.
    """
    wanted = unless_wanted if options.wanted == AUTOMATIC else options.wanted
    if wanted not in (BEST, LAST):
        return options.load_directory / wanted
    names = (NEWEST_INDEX, BEST_INDEX) if wanted == LAST else (BEST_INDEX, NEWEST_INDEX)
    return next(filter(None, (named_by(options.load_directory / name) for name in names)), None)


def check_named(folder: Path, wanted: str) -> None:
    """Raise CheckpointError if the flag `checkpoint` names a checkpoint that the folder does not have."""
    if wanted in (AUTOMATIC, BEST, LAST) or index_path(folder / wanted).exists():
        return
    names = sorted((path.stem for path in folder.glob("*.index")), key=lambda each: (len(each), each))
    those = f"; there are {', '.join(names)}" if names else ""
    raise CheckpointError(f"--checkpoint={wanted}: {named_for_all(folder)} holds no such checkpoint{those}")


def _check_beginning(
    prefix: Path, description: Mapping[str, Any], options: CheckpointOptions, identity: ModelIdentity
) -> None:
    if options.map_labels:
        check_beginning(prefix, description, identity, max(options.drop_source_layers, 1))
        mapping_of_description(prefix, description, identity.alphabet)
    else:
        check_beginning(prefix, description, identity, options.drop_source_layers)


def _check_initial_file(options: CheckpointOptions, identity: ModelIdentity) -> None:
    source, network = read_initial_weights(options), identity.network
    if source is None:
        return
    initial_statistics(source, identity.features)
    last = [variable for variable in network.variables if network.layer_of(variable.name) is network.layers[-1]]
    zeros = {variable.name: np.zeros(variable.shape, np.float32) for variable in last}
    onto = zeros if options.map_labels else None
    initial_weights(source, identity, options.drop_source_layers, onto)


def _check_shapes(prefix: Path, described: Mapping[str, Any], identity: ModelIdentity, otherwise: str) -> None:
    ours = identity.network
    try:
        shapes = network_from_json(ours.name, ours.coefficients, described.get("layers")).shapes
    except NetworkError:
        return
    for variable in ours.variables:
        found = shapes.get(variable.name, variable.shape)
        if found != variable.shape:
            raise CheckpointError(f"{misfit(prefix, variable, variable.name, found, identity)}; or {otherwise}")
