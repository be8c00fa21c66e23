"""The description of the model that training begins with, as far as flags name one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import CheckpointError
from ...options import CheckpointOptions
from ...options.checkpoints import BEST
from ...util.storage.copies import named_for_all
from ...util.text import Alphabet
from ..flag_check import check_named, chosen_checkpoint, nothing_to_begin_with
from ..folder_reading import holds_checkpoints
from ..identity import read_description
from .model_weights import read_initial_weights


def description_to_begin_with(options: CheckpointOptions) -> tuple[str, Mapping[str, Any]] | None:
    """Return the flag that names a model to begin with, and its description, which may lack parts; None without one.

    Raise CheckpointError if the model cannot be read.
    """
    source = read_initial_weights(options)
    if source is not None:
        return source.origin, source.description
    folder = options.given_load_directory
    if folder is None or not options.begins_elsewhere:
        return None
    check_named(folder, options.wanted)
    prefix = chosen_checkpoint(options, BEST)
    if prefix is None and not holds_checkpoints(folder):
        raise nothing_to_begin_with(folder)
    return f"--load_checkpoint_dir={named_for_all(folder)}", _description_in(folder, prefix)


def alphabet_to_begin_with(options: CheckpointOptions) -> Alphabet | None:
    """Return the alphabet of the model to begin with; None without one, or if its labels are not characters.

    Raise CheckpointError if the model cannot be read.
    """
    _, description = description_to_begin_with(options) or ("", {})
    labels = description.get("alphabet")
    return Alphabet(labels) if labels and description.get("output_unit", Alphabet.unit) == Alphabet.unit else None


def _description_in(folder: Path, chosen: Path | None) -> Mapping[str, Any]:
    """Return the description of the chosen checkpoint, or else of another one in the folder: all are of one model.

    Training begins with another one, too, if no index file names one, or if the one that it names is damaged. Return
    an empty description if none has one; raise CheckpointError if none can be read.
    """
    trouble: CheckpointError | None = None
    for prefix in (*([chosen] if chosen else []), *(path.with_suffix("") for path in sorted(folder.glob("*.index")))):
        try:
            description = read_description(prefix)
        except CheckpointError as error:
            trouble = trouble or error
            continue
        if description is not None:
            return description
    if trouble is not None:
        raise trouble
    return {}
