"""The settings of the experiment `auto` that another model decides, because training begins with its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ...checkpoints.folder_reading import holds_checkpoints
from ...checkpoints.identity import FEATURE_FLAGS, MODEL_FLAGS
from ...checkpoints.weights.described import description_to_begin_with
from ...checkpoints.weights.model_weights import described_features
from ...errors import FlagError
from ...experiments.auto.choosing import Beginning
from ...network.deepspeech import UNNAMED_NETWORK
from ...options import CheckpointOptions
from ...options.model import PROVIDED
from ...options.parameters.of_run import values_of_parameters
from ...options.parameters.text import Value as Written
from ...options.rows.values import Value
from ...util.features import FeatureOptions
from ...util.text import Alphabet
from ..storage.addresses import check_on_this_machine

_OF_FRONT_END = ("window_ms", "step_ms", "coefficients", "skip_frames")
"""The settings of features that have another default for each front end."""

_OF_FEATURES = {each.name: FEATURE_FLAGS.get(each.name, each.name) for each in fields(FeatureOptions)}
"""The flags of the settings of features."""
FLAGS = (*_OF_FEATURES.values(), "output_unit", "network", *MODEL_FLAGS)
"""The flags that the model decides."""


def beginning_of(options: CheckpointOptions, network: str) -> Beginning | None:
    """Return the model that training is to begin with, and the flags that it decides; None if no flag names one.

    `network` is the value of that flag, which names a network of the user's own. Raise CheckpointError if the model
    cannot be read, and FlagError if it does not say which settings it has.
    """
    naming = {
        "load_checkpoint_dir": options.given_load_directory,
        "initialize_from_weights": options.initial_weights,
        "initialize_from_frozen_model": options.initial_graph,
    }
    for flag, path in naming.items():
        check_on_this_machine(flag, path, " for --experiment=auto")
    named = description_to_begin_with(options)
    if named is None:
        return None
    origin, description = named
    features, model = described_features(description, origin), description.get("model", {})
    name = description.get("network", {}).get("name", UNNAMED_NETWORK)
    if features is None or "n_hidden" not in model:
        raise FlagError(
            f"{origin}: does not say with which flags it was trained, so --experiment=auto cannot choose the same; "
            "begin with a folder of this program's checkpoints, or choose another experiment and give the flags"
        )
    if name not in PROVIDED and not network.endswith(f":{name}"):
        raise FlagError(f"{origin}: is of another network, {name}; give the file with --network=FILE.py:{name}")
    flags = {
        **_flags_of_features(features),
        "output_unit": description.get("output_unit", Alphabet.unit),
        "network": name if name in PROVIDED else network,
        **{flag: value for flag, value in model.items() if flag in MODEL_FLAGS},
    }
    return Beginning(origin, {**flags, **how_to_begin(options)})


def beginning_of_run(
    origin: str, begun: Mapping[str, Written], options: CheckpointOptions, parameters: Path
) -> Beginning:
    """Return the model that a run began with, and the flags that it decided, from the run's file of parameters.

    Raise FlagError if the run has saved no checkpoint yet, and no flag names the model again.
    """
    again = how_to_begin(options)
    if not again and not holds_checkpoints(parameters.parent):
        raise FlagError(
            f"--experiment=auto: the run in {parameters.parent} was to begin with {origin}, and has saved no "
            "checkpoint; give that flag again"
        )
    values: dict[str, Any] = values_of_parameters(
        {name: begun[name] for name in FLAGS if name in begun}, None, parameters
    )
    features = FeatureOptions(**{name: values[flag] for name, flag in _OF_FEATURES.items() if flag in values})
    others = {flag: value for flag, value in values.items() if flag not in _OF_FEATURES.values()}
    return Beginning(origin, {**_flags_of_features(features), **others, **again})


def how_to_begin(options: CheckpointOptions) -> dict[str, Value]:
    """Return the flags that take only the weights of the model that a flag names, and of its labels those shared."""
    if options.initial_file is not None:
        return {"map_labels": True}
    begins = options.given_load_directory is not None and options.begins_elsewhere
    return {"map_labels": True, "fresh_optimizer": True} if begins else {}


def _flags_of_features(features: FeatureOptions) -> dict[str, Value]:
    """Return the flags of features, without those that have the front end's defaults."""
    usual = FeatureOptions(features.sample_rate, features.feature_type, stack_frames=features.stack_frames)
    return {
        flag: value
        for name, flag in _OF_FEATURES.items()
        if (value := getattr(features, name)) != getattr(usual, name) or name not in _OF_FRONT_END
    }
