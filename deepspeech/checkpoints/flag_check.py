"""Comparison of a run's flags with the checkpoint that it is to use, before anything that takes long.

It needs no TensorFlow, and only the descriptions of checkpoints. What these do not say, or a folder whose index file is
lost, is left to the time when the checkpoint is restored.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import CheckpointError, NetworkError
from ..network.serialization import network_from_json
from .identity import ModelIdentity, check_described_network, check_identity, misfit, read_description


def check_flags(folder: Path, index_files: Sequence[str], identity: ModelIdentity) -> None:
    """Raise CheckpointError if a folder's checkpoint is of another model than `identity`, as restoring it does.

    It is the one that the first of the index files names that is there.
    """
    index = next((folder / name for name in index_files if (folder / name).exists()), None)
    prefix = None if index is None else _named(index)
    if prefix is None:
        return
    try:
        description = read_description(prefix)
    except CheckpointError:
        return
    if description is not None and isinstance(description.get("network"), dict):
        check_described_network(prefix, description, identity)
        _check_shapes(prefix, description["network"], identity)
        check_identity(prefix, description, identity)


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
