"""The initial values of a session: those of a file of weights, an exported graph, or another folder's checkpoint."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import CheckpointError
from ...network.layers.normalization import statistics_names
from ...options import CheckpointOptions
from ...util.figures.counted import counted
from ...util.frames.normalization import DEVIATION, MEAN
from ...util.text import Alphabet
from ..identity import ModelIdentity, misfit, read_description
from ..sources import assign, find_sources, open_checkpoint, source_of
from .finite import check_finite
from .fitting import (
    Arrays,
    check_beginning,
    initial_statistics,
    initial_weights,
    mapping_of_description,
    mapping_of_labels,
)
from .label_mapping import LabelMapping
from .model_weights import read_initial_weights

logger = logging.getLogger(__name__)


def begin_with_file(
    session: Any, variables: Sequence[Any], options: CheckpointOptions, identity: ModelIdentity
) -> None:
    """Set variables of the network to the values in the file that a flag names, if any, except for dropped layers.

    Raise CheckpointError if its weights cannot be read or belong to another model.
    """
    source = read_initial_weights(options)
    if source is None:
        return
    statistics = initial_statistics(source, identity.features)
    _warn_of_another_rate(source.origin, source.features.sample_rate if source.features else None, identity)
    onto = None
    if options.map_labels:
        onto = _last_layer(session, variables, identity)
        mapping = mapping_of_labels(source.origin, source.labels, source.output_unit, identity.alphabet)
        _tell_kept_labels(mapping, identity.alphabet)
    values = initial_weights(source, identity, options.drop_source_layers, onto)
    there = len({*source.values} - {MEAN, DEVIATION})
    _begin_with(session, variables, {**values, **statistics}, identity, f"{there} weights of {options.initial_file}")


def begin_with_checkpoint(
    session: Any, variables: Sequence[Any], options: CheckpointOptions, identity: ModelIdentity, prefix: Path
) -> None:
    """Set variables of the network to the values of the checkpoint at `prefix`, except for dropped layers.

    Raise CheckpointError if it cannot be read or belongs to another model.
    """
    described = (read_description(prefix) or {}).get("features", {})
    _warn_of_another_rate(f"{prefix}", described.get("sample_rate"), identity)
    if options.map_labels:
        dropped = max(options.drop_source_layers, 1)
        values = weights_of_checkpoint(prefix, variables, identity, dropped)
        values |= _mapped(prefix, identity, _last_layer(session, variables, identity))
    else:
        values = weights_of_checkpoint(prefix, variables, identity, options.drop_source_layers)
    check_finite(prefix, values)
    there = len(identity.network.shapes)
    _begin_with(session, variables, values, identity, f"{there} weights of {prefix}")


def weights_of_checkpoint(
    prefix: Path, variables: Sequence[Any], identity: ModelIdentity, drop_layers: int
) -> dict[str, npt.NDArray[np.float32]]:
    """Return the values of a network's variables, float32, by name: all but those of the `drop_layers` last layers.

    The statistics that normalize its features are included. `variables` are those of a graph of the network; further
    ones are ignored. Raise CheckpointError if the checkpoint at `prefix` cannot be read or belongs to another model.
    """
    network = identity.network
    dropped = network.last_layers(drop_layers)
    names = {name for name in network.shapes if network.layer_of(name) not in dropped}
    names.update(statistics_names(identity.features))
    kept = [variable for variable in variables if variable.op.name in names]
    check_beginning(prefix, read_description(prefix) or {}, identity, drop_layers)
    sources = find_sources(prefix, kept, identity, averaged=True)
    reader = open_checkpoint(prefix)
    return {name: source.read(reader) for name, source in sources.items()}


def _mapped(prefix: Path, identity: ModelIdentity, onto: Arrays) -> dict[str, npt.NDArray[np.float32]]:
    """Return the values of the last layer's variables for this run's alphabet; `onto` are their initial values."""
    description = read_description(prefix) or {}
    mapping = mapping_of_description(prefix, description, identity.alphabet)
    _tell_kept_labels(mapping, identity.alphabet)
    reader = open_checkpoint(prefix)
    shapes = reader.get_variable_to_shape_map()
    mapped = {}
    for variable in identity.network.variables:
        source = source_of(variable.name, variable, shapes, averaged=True) if variable.name in onto else None
        if source is None:
            continue
        found, initial = tuple(shapes[source.name]), onto[variable.name]
        if found != (*initial.shape[:-1], mapping.their_outputs):
            raise CheckpointError(misfit(prefix, variable, source.name, found, identity))
        mapped[variable.name] = mapping.mapped(source.read(reader), initial)
    return mapped


def _warn_of_another_rate(origin: str, rate: int | None, identity: ModelIdentity) -> None:
    """Warn if weights were trained at another sample rate, in Hz, where each coefficient is of other frequencies."""
    ours = identity.features.sample_rate
    if rate not in (None, ours):
        logger.warning(
            "%s: was trained on audio of %d Hz, but this run's is of %d Hz: its features are of other frequencies, "
            "which the first layers learn anew (--audio_sample_rate)",
            origin,
            rate,
            ours,
        )


def _tell_kept_labels(mapping: LabelMapping, alphabet: Alphabet) -> None:
    logger.info(
        "The last layer begins with the weights of %d of the alphabet's %s",
        mapping.shared,
        counted(alphabet.size, "label"),
    )


def _last_layer(session: Any, variables: Sequence[Any], identity: ModelIdentity) -> Arrays:
    network = identity.network
    names = {name for name in network.shapes if network.layer_of(name) is network.layers[-1]}
    values: Arrays = session.run({each.op.name: each for each in variables if each.op.name in names})
    return values


def _begin_with(
    session: Any, variables: Sequence[Any], values: Mapping[str, Any], identity: ModelIdentity, source: str
) -> None:
    by_name = {variable.op.name: variable for variable in variables}
    assign(session, ((by_name[name], value) for name, value in values.items()))
    taken = sum(name in identity.network.shapes for name in values)
    logger.info("Beginning with %d of the %s", taken, source)
