"""The weights of a file that a model starts from, and the errors if they do not fit. No TensorFlow here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import CheckpointError
from ...network import Network
from ...util.features import FeatureOptions
from ...util.figures.counted import counted
from ...util.frames.normalization import DEVIATION, MEAN
from ...util.text import Alphabet
from ..identity import BEGIN_WITHOUT, ModelIdentity, check_alphabet, check_features, check_network, labels_of
from .explanation import another_alphabet, is_of_another_alphabet, start_anew
from .finite import check_finite
from .label_mapping import LabelMapping, shared_labels
from .model_weights import ModelWeights

SHOWN_LABELS = 60
"""The number of labels of an alphabet that an error shows."""

BEGIN_UNTRAINED = "begin the layers that differ untrained with --drop_source_layers"
"""The advice for a file of another network."""

SAME_NETWORK = "give its --network and its flags, such as --lstm_layers, --bidirectional and --n_hidden, as in training"
"""The advice for a file that does not describe its network."""

Arrays = Mapping[str, npt.NDArray[Any]]


def initial_weights(
    source: ModelWeights, identity: ModelIdentity, drop_layers: int, mapped_onto: Arrays | None = None
) -> dict[str, npt.NDArray[np.float32]]:
    """Return the values of variables, float32, by name: all but those of the `drop_layers` last layers.

    `identity` is that of this run. If `mapped_onto` has the initial values of its last layer's variables, the result
    includes the last layer: the file's values for labels that both alphabets have, the initial values for the others.
    Raise CheckpointError if the weights belong to another model.
    """
    network, alphabet = identity.network, identity.alphabet
    count = 1 if mapped_onto is not None and not drop_layers else drop_layers
    dropped = network.last_layers(count)
    if not dropped:
        _check_alphabet(source, network, alphabet)
    if source.description:
        check_network(source.origin, source.description, identity, count, BEGIN_UNTRAINED, any_chunks=True)
    kept = {}
    for name, shape in network.shapes.items():
        if network.layer_of(name) in dropped:
            continue
        if name not in source.values:
            raise CheckpointError(_missing(source, network, name))
        if source.values[name].shape != shape:
            raise CheckpointError(_misfit(source, network, name))
        kept[name] = _float32(source, name)
    if mapped_onto is not None:
        kept |= _mapped(source, network, alphabet, mapped_onto)
    check_finite(source.origin, kept)
    return kept


def initial_statistics(source: ModelWeights, features: FeatureOptions) -> dict[str, npt.NDArray[np.float32]]:
    """Return the statistics that normalize a file's features, float32, by the names of their variables.

    `features` are those of this run. Raise CheckpointError if the file's are normalized or stacked in another way.
    """
    theirs = source.features
    if theirs is not None:
        ours = replace(features, sample_rate=theirs.sample_rate)
        if theirs.of_predecessors and features.of_predecessors:
            ours = replace(ours, feature_type=theirs.feature_type)
        if theirs != ours:
            raise CheckpointError(
                f"{source.origin}: its features are {theirs.in_words}, but this run's are {features.in_words}; give "
                "the same --feature_type, --feature_win_len, --feature_win_step, --normalize_features, --stack_frames "
                "and --skip_frames"
            )
    names = [name for name in (MEAN, DEVIATION) if features.normalized and name in source.values]
    if any(source.values[name].shape != (features.coefficients,) for name in names):
        raise CheckpointError(f"{source.origin}: its statistics are not of {features.coefficients} features")
    statistics = {name: _float32(source, name) for name in names}
    check_finite(source.origin, statistics)
    return statistics


def check_beginning(prefix: Path, description: Mapping[str, Any], identity: ModelIdentity, drop_layers: int) -> None:
    """Raise CheckpointError if a description is of another model before the `drop_layers` last layers.

    The sample rate may be another.
    """
    check_features(prefix, description, identity, BEGIN_WITHOUT, any_rate=True)
    if not identity.network.last_layers(drop_layers):
        check_alphabet(prefix, description, identity, BEGIN_WITHOUT)
    check_network(prefix, description, identity, drop_layers, BEGIN_UNTRAINED, any_chunks=True)


def mapping_of_description(prefix: Path, description: Mapping[str, Any], alphabet: Alphabet) -> LabelMapping:
    """Return the mapping from a checkpoint's alphabet, as `mapping_of_labels` does."""
    unit = description.get("output_unit", Alphabet.unit)
    return mapping_of_labels(str(prefix), labels_of(prefix, description), unit, alphabet)


def mapping_of_labels(origin: str, labels: Sequence[str] | None, unit: str, alphabet: Alphabet) -> LabelMapping:
    """Return the mapping from a file's alphabet to this run's; raise CheckpointError if they share no label."""
    if labels is None:
        raise CheckpointError(
            f"{origin}: does not contain its alphabet, so --map_labels cannot be used; begin the last layer untrained "
            "with --drop_source_layers=1"
        )
    mapping = shared_labels(labels, alphabet.labels) if unit == alphabet.unit else None
    if mapping is None or not mapping.shared:
        raise CheckpointError(
            f"{origin}: its alphabet of {unit}, {_shown(labels)}, shares no label with this run's of {alphabet.unit}, "
            f"{_shown(alphabet.labels)}; begin the last layer untrained with --drop_source_layers=1"
        )
    return mapping


def _mapped(
    source: ModelWeights, network: Network, alphabet: Alphabet, onto: Arrays
) -> dict[str, npt.NDArray[np.float32]]:
    mapping = mapping_of_labels(source.origin, source.labels, source.output_unit, alphabet)
    mapped = {}
    for name, initial in onto.items():
        theirs = source.values.get(name)
        if theirs is None:
            raise CheckpointError(_missing(source, network, name))
        if theirs.shape != (*initial.shape[:-1], mapping.their_outputs):
            raise CheckpointError(_misfit(source, network, name))
        mapped[name] = mapping.mapped(_float32(source, name), initial)
    return mapped


def _check_alphabet(source: ModelWeights, network: Network, alphabet: Alphabet) -> None:
    last = [variable.name for variable in network.variables if network.layer_of(variable.name) is network.layers[-1]]
    known = source.labels
    if known == alphabet.labels and source.output_unit == alphabet.unit:
        return
    told = _alphabets(known, alphabet) if known is not None else ""
    shapes = {name: source.values[name].shape for name in last if name in source.values}
    differing = [name for name in shapes if shapes[name] != network.shapes[name]]
    if differing and is_of_another_alphabet(network, differing[0], shapes[differing[0]]):
        cause = another_alphabet(network, differing[0], shapes[differing[0]]) + (f" ({told})" if told else "")
    elif known is not None:
        cause = told if known != alphabet.labels else f"its labels are {source.output_unit}, this run's {alphabet.unit}"
    else:
        return
    shared = shared_labels(known, alphabet.labels).shared if known and source.output_unit == alphabet.unit else 0
    mapping = f", or with --map_labels, which also keeps the rows of {counted(shared, 'label')} that both have"
    raise CheckpointError(
        f"{source.origin}: {cause}; give its alphabet with --alphabet_config_path, or {start_anew(network)}"
        + (mapping if shared else "")
    )


def _missing(source: ModelWeights, network: Network, name: str) -> str:
    if not any(each in source.values for each in network.shapes):
        return (
            f"{source.origin}: has none of this model's weights: it has {next(iter(source.values))}, this model "
            f"{name}; deepspeech-weights show lists what it has"
        )
    return f"{source.origin}: has no variable {name}; {SAME_NETWORK}{_or_untrained(source, network)}"


def _misfit(source: ModelWeights, network: Network, name: str) -> str:
    found, first = source.values[name].shape, network.weighted_layers[0]
    remedy = SAME_NETWORK
    if network.layer_of(name) is first and first is not network.layers[-1] and found:
        remedy = f"give --n_hidden={found[-1]}"
    shapes = f"{name} is {found} in the file and {network.shapes[name]} in this model"
    return f"{source.origin}: {shapes}; {remedy}{_or_untrained(source, network)}"


def _or_untrained(source: ModelWeights, network: Network) -> str:
    """Return the advice to reinitialize the fewest layers so that all other weights fit; nothing if none fits."""
    values = source.values
    wrong = [name for name, shape in network.shapes.items() if name not in values or values[name].shape != shape]
    layers = network.weighted_layers
    count = len(layers) - min(layers.index(network.layer_of(name)) for name in wrong)
    return "" if count == len(layers) else f", or begin more layers untrained: {start_anew(network, count)}"


def _float32(source: ModelWeights, name: str) -> npt.NDArray[np.float32]:
    value = source.values[name]
    if value.dtype != np.float32:
        raise CheckpointError(f"{source.origin}: {name} is of type {value.dtype}; store it as float32")
    return value


def _alphabets(theirs: Sequence[str], ours: Alphabet) -> str:
    return f"its alphabet is {_shown(theirs)}, but this run's is {_shown(ours.labels)}"


def _shown(labels: Sequence[str]) -> str:
    between = "" if all(len(label) == 1 for label in labels) else ", "
    return repr(between.join(labels[:SHOWN_LABELS])) + (" …" if len(labels) > SHOWN_LABELS else "")
