"""The identity of the model that weights belong to: it is in the JSON file beside a checkpoint, and must be equal.

DeepSpeech's own checkpoints have no such file, and files from before networks had names do not describe the layers. In
both cases, the network is `deepspeech`. Coqui STT writes only the alphabet, into the folder of the checkpoints.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import AlphabetError, CheckpointError, NetworkError
from ..network import Network, Variable, network
from ..network.deepspeech import UNNAMED_NETWORK
from ..network.registry import flag_of
from ..network.serialization import difference, without_chunks
from ..options import ModelOptions, flags_of, values_of
from ..util.features import NO_NORMALIZATION, FeatureOptions
from ..util.files.whole_files import write_text_whole
from ..util.output_units import UNITS
from ..util.text import Alphabet
from .weights.explanation import is_of_another_alphabet, start_anew
from .weights.label_mapping import shared_labels

DESCRIPTION_FORMAT = 1

_OF_TRAINING = {
    *("dropout_rate", *(f"dropout_rate{layer}" for layer in range(2, 7))),
    *("intermediate_ctc_weight", "intermediate_ctc_layers"),
}
MODEL_FLAGS = tuple(
    row.name for row in flags_of(ModelOptions) if row.on_command_line and row.name not in {"network", *_OF_TRAINING}
)
"""Flags that determine the layers of networks; errors explain a difference by them."""

FEATURE_FLAGS = {
    "sample_rate": "audio_sample_rate",
    "window_ms": "feature_win_len",
    "step_ms": "feature_win_step",
    "normalization": "normalize_features",
}
"""The settings of features whose flags have other names."""

COQUIS_ALPHABET = "alphabet.txt"
"""The file beside checkpoints in which Coqui STT keeps their alphabet."""

ANOTHER_FOLDER = "use another --checkpoint_dir"
BEGIN_WITHOUT = "begin without this checkpoint"
"""The advice for a checkpoint of another model: one in the folder to train in, or one that training begins with."""

Described = Mapping[str, Any] | None
"""The description of a checkpoint, if it has one."""

_PLAIN = {"normalization": NO_NORMALIZATION, "stack_frames": 1, "skip_frames": 1}
"""The settings of features that a description omits if the network receives the frames of the front end unchanged."""


@dataclass(frozen=True)
class ModelIdentity:
    """The model that weights belong to: a checkpoint can only be loaded into a model with the same identity."""

    alphabet: Alphabet
    features: FeatureOptions
    model: ModelOptions

    @cached_property
    def network(self) -> Network:
        """The network that the options name. Raise NetworkError if there is none, or if it is for other labels."""
        made = network(self.model, self.features.width, self.alphabet.size, self.features.network_step_ms)
        if made.outputs != self.alphabet.size + 1:
            raise NetworkError(
                f"--network={self.model.network}: its last layer, {made.layers[-1].name}, has {made.outputs} units, "
                f"but the labels and the blank are {self.alphabet.size + 1}; give it sizes.outputs units"
            )
        return made

    @property
    def flags(self) -> dict[str, Any]:
        """The values of the flags that determine the layers, by their names."""
        values = values_of(self.model)
        return {name: values[name] for name in MODEL_FLAGS}

    def to_json(self) -> dict[str, Any]:
        """Return the identity as a value for JSON, which is part of a checkpoint's description."""
        unit = self.alphabet.unit
        return {
            **({} if unit == Alphabet.unit else {"output_unit": unit}),
            "alphabet": list(self.alphabet.labels),
            "features": self.features.to_json(),
            "model": self.flags,
            "network": {"name": self.network.name, "layers": self.network.to_json()},
        }


def description_path(prefix: Path) -> Path:
    """Return the path of the description of the checkpoint at `prefix`, a path without extension."""
    return prefix.with_name(prefix.name + ".json")


def read_description(prefix: Path) -> Mapping[str, Any] | None:
    """Return the JSON beside a checkpoint, None if there is no such file; raise CheckpointError for any other file."""
    path = description_path(prefix)
    try:
        description: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: cannot be read ({error})") from error
    if not is_description(description):
        raise CheckpointError(
            f"{path}: not a description of format {DESCRIPTION_FORMAT}; was it written by a newer version?"
        )
    return description


def is_description(value: Any) -> bool:
    """Return whether a value from JSON has the format of a description, and its parts, if any, have their types."""
    if not isinstance(value, dict) or value.get("format") != DESCRIPTION_FORMAT:
        return False
    labels, network = value.get("alphabet", []), value.get("network", {"name": UNNAMED_NETWORK})
    return (
        isinstance(labels, list)
        and all(isinstance(label, str) for label in labels)
        and value.get("output_unit", Alphabet.unit) in tuple(UNITS)
        and all(isinstance(value.get(name, {}), dict) for name in ("features", "model"))
        and isinstance(network, dict)
        and isinstance(network.get("name"), str)
        and isinstance(layers := network.get("layers", []), list)
        and all(isinstance(layer, dict) for layer in layers)
    )


def write_description(prefix: Path, description: Mapping[str, Any]) -> None:
    """Write the JSON beside the checkpoint at `prefix`, whole or not at all; raise OSError."""
    write_text_whole(description_path(prefix), json.dumps(description, ensure_ascii=False))


def check_described_network(prefix: Path, description: Described, identity: ModelIdentity, otherwise: str) -> None:
    """Raise CheckpointError if a description has another network than `identity`, by its name or its layers.

    Also raise it for other features, as they determine the shapes of layers. Other differences in DeepSpeech's own
    network are found later by its variables, which always have the same names.
    The error advises to give the same flags or to follow `otherwise`, here and below.
    """
    described = (description or {}).get("network", {"name": UNNAMED_NETWORK})
    theirs, ours = ({"network": flag_of(name)} for name in (described["name"], identity.network.name))
    _check_flags(prefix, theirs, ours, otherwise)
    check_features(prefix, description, identity, otherwise)
    if described["name"] != UNNAMED_NETWORK:
        check_identity(prefix, description, identity, otherwise)


def check_identity(prefix: Path, description: Described, identity: ModelIdentity, otherwise: str) -> None:
    """Raise CheckpointError if a checkpoint's description has another alphabet, features or network than `identity`."""
    check_alphabet(prefix, description, identity, otherwise)
    if description is None:
        return
    check_features(prefix, description, identity, otherwise)
    check_network(prefix, description, identity, 0, otherwise)


def check_alphabet(prefix: Path, description: Described, identity: ModelIdentity, otherwise: str) -> None:
    """Raise CheckpointError if a description, or else Coqui STT's file, has another alphabet than `identity`."""
    if not description:
        _check_coquis_alphabet(prefix, identity.alphabet)
        return
    unit = description.get("output_unit", Alphabet.unit)
    _check_flags(prefix, {"output_unit": unit}, {"output_unit": identity.alphabet.unit}, otherwise)
    labels, here = description.get("alphabet"), list(identity.alphabet.labels)
    if labels != here:
        raise CheckpointError(
            f"{prefix}: trained with another alphabet, {_label_difference(labels or [], here)}; "
            f"give its alphabet with --alphabet_config_path, or {otherwise}, or start from it "
            "with --load_checkpoint_dir and --map_labels, which keeps the rows of the "
            f"{shared_labels(labels or [], here).shared} labels that both have, in another --save_checkpoint_dir"
        )


def labels_of(prefix: Path, description: Described) -> list[str] | None:
    """Return a checkpoint's labels: of its description or else of Coqui STT's file beside it; None without either."""
    if description:
        return description.get("alphabet")
    try:
        return list(Alphabet.load(prefix.with_name(COQUIS_ALPHABET)).labels)
    except AlphabetError:  # there is no such file, or it is something else
        return None


def _check_coquis_alphabet(prefix: Path, alphabet: Alphabet) -> None:
    """Raise CheckpointError if Coqui STT's file beside a checkpoint has other labels than an alphabet of characters."""
    theirs, here = labels_of(prefix, None), list(alphabet.labels)
    if theirs is not None and alphabet.unit == Alphabet.unit and theirs != here:
        raise CheckpointError(
            f"{prefix}: {COQUIS_ALPHABET} beside it has another alphabet, {_label_difference(theirs, here)}; give it "
            f"with --alphabet_config_path={prefix.with_name(COQUIS_ALPHABET)}, or remove it if the checkpoint was "
            "trained with the alphabet of this run"
        )


def check_network(
    origin: Path | str,
    description: Mapping[str, Any],
    identity: ModelIdentity,
    drop_layers: int,
    otherwise: str,
    *,
    any_chunks: bool = False,
) -> None:
    """Raise CheckpointError if a description has another network than `identity` before the `drop_layers` last layers.

    The error names the model `origin`. If only the last layer is dropped, both must have the same number of other
    layers. With `any_chunks`, layers that differ only in their chunks are the same.
    """
    model = description.get("model", {})
    named = description.get("network", {"name": UNNAMED_NETWORK})
    ours = json.loads(json.dumps(identity.network.to_json()))
    theirs = named.get("layers", ours)
    if drop_layers:
        first = identity.network.last_layers(drop_layers)[-1]
        if first is identity.network.weighted_layers[0]:
            return
        kept = sum(layer.recorded for layer in identity.network.layers[: identity.network.layers.index(first)])
        ours, theirs = ours[:kept], theirs[: kept if drop_layers > 1 else -1]
    if "layers" in named and (theirs == ours or (any_chunks and without_chunks(theirs) == without_chunks(ours))):
        return
    flags = {"network": flag_of(identity.network.name), **identity.flags}
    _check_flags(origin, {"network": flag_of(named["name"]), **model}, flags, otherwise)
    differs = difference(theirs, ours)
    if differs is not None:
        raise CheckpointError(
            f"{origin}: trained with another network {identity.network.name}: {differs}; "
            f"use the network as it was, or {otherwise}"
        )


def check_features(
    prefix: Path, description: Described, identity: ModelIdentity, otherwise: str, *, any_rate: bool = False
) -> None:
    """Raise CheckpointError if a checkpoint's description has other features than `identity`.

    With `any_rate`, features of another sample rate are the same.
    """
    features, ours = (description or {}).get("features", {}), identity.features.to_json()
    if any_rate:
        features = {name: value for name, value in features.items() if name != "sample_rate"}
    _check_flags(prefix, {**_PLAIN, **features}, {**_PLAIN, **ours}, otherwise)


def misfit(prefix: Path, variable: Variable, found_name: str, found: tuple[int, ...], identity: ModelIdentity) -> str:
    """Return why a variable, `found_name` in the checkpoint, does not fit, with the most likely cause."""
    network, n_hidden = identity.network, identity.model.n_hidden
    layer, first = network.layer_of(variable.name), network.weighted_layers[0]
    if is_of_another_alphabet(network, variable.name, found):
        cause = (
            f"it was trained with another alphabet, of {found[-1] - 1} labels (here {identity.alphabet.size}), as the "
            "last layer has one unit per label and one for the blank: give that alphabet with --alphabet_config_path "
            "and --output_unit, or start from it with --load_checkpoint_dir, in another --save_checkpoint_dir, and "
            f"keep the rows of shared labels with --map_labels, or {start_anew(network)}"
        )
    elif layer is first and len(found) == 2 and found[0] != variable.shape[0]:
        cause = "it was trained on other features"
    else:
        cause = f"it was trained with another --n_hidden than {n_hidden}"
        if layer is first and layer.width(0) == n_hidden:
            cause += f": give --n_hidden={found[-1]}"
    shapes = f"has shape {_shape(found)}, but this model needs {_shape(variable.shape)}"
    return f"{prefix}: variable {found_name} {shapes}; probably {cause}"


def _check_flags(origin: Path | str, theirs: Mapping[str, Any], ours: Mapping[str, Any], otherwise: str) -> None:
    """Raise CheckpointError for the first value that differs, naming its flag."""
    for name, value in theirs.items():
        if name in ours and ours[name] != value:
            flag = FEATURE_FLAGS.get(name, name)
            raise CheckpointError(
                f"{origin}: trained with --{flag}={value}, but this run has --{flag}={ours[name]}; "
                f"give the same value, or {otherwise}"
            )


def _label_difference(theirs: list[str], ours: list[str]) -> str:
    for index, (their, our) in enumerate(zip(theirs, ours, strict=False)):
        if their != our:
            return f"where label {index} is {their!r} (here {our!r})"
    return f"of {len(theirs)} labels (here {len(ours)})"


def _shape(shape: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
