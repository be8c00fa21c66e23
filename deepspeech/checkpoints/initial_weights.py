"""The weights of an exported graph, or of another folder's checkpoint, to begin training with."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from ..errors import CheckpointError, GraphError
from ..network import Network
from ..network.layers.normalization import DEVIATION, MEAN, statistics_names
from ..serving.frozen.features import describes_features, read_features
from ..serving.frozen.graph import read_graph
from ..serving.frozen.model import read_labels, read_network, read_weights
from ..util.features import FeatureOptions
from ..util.text import Alphabet
from .identity import ModelIdentity, check_described_network, check_features, check_identity, read_description
from .sources import find_sources

SHOWN_LABELS = 60
"""The number of labels of an alphabet that an error shows."""


def initial_weights(
    path: Path, network: Network, alphabet: Alphabet, drop_layers: int
) -> dict[str, npt.NDArray[np.float32]]:
    """Return the values of variables, float32, by name: all but those of the `drop_layers` last layers.

    `network` and `alphabet` are those of this run. Raise CheckpointError if the graph cannot be read or belongs to
    another model.
    """
    try:
        graph = read_graph(path)
        labels = read_labels(graph) if "metadata_alphabet" in graph.nodes else None
        source = read_network(graph)
        weights = read_weights(graph, source)
    except GraphError as error:
        raise CheckpointError(f"--initialize_from_frozen_model={path}: {error}") from None
    dropped = network.last_layers(drop_layers)
    if not dropped:
        _check_alphabet(path, labels, source.outputs, alphabet)
    kept = {}
    for name, shape in network.shapes.items():
        if network.layer_of(name) in dropped:
            continue
        if name not in weights:
            raise CheckpointError(
                f"--initialize_from_frozen_model={path}: has no variable {name}, as its network is {source.name}; "
                "give the same --network, or begin more layers untrained with --drop_source_layers"
            )
        if weights[name].shape != shape:
            raise CheckpointError(_misfit(path, name, weights[name].shape, shape, source))
        kept[name] = weights[name]
    return kept


def statistics_of_graph(path: Path, features: FeatureOptions) -> dict[str, npt.NDArray[np.float32]]:
    """Return the statistics by which a graph's features are normalized, float32, by the names of their variables.

    `features` are those of this run. Raise CheckpointError if the graph's are normalized or stacked in another way.
    """
    try:
        graph = read_graph(path)
        theirs, statistics = read_features(graph) if describes_features(graph) else (FeatureOptions(), None)
    except GraphError as error:
        raise CheckpointError(f"--initialize_from_frozen_model={path}: {error}") from None
    same = theirs == replace(features, sample_rate=theirs.sample_rate)
    if not same and not (theirs.of_predecessors and features.of_predecessors):
        raise CheckpointError(
            f"--initialize_from_frozen_model={path}: its features are {theirs.in_words}, but this run's are "
            f"{features.in_words}; give the same --feature_type, --normalize_features, --stack_frames and --skip_frames"
        )
    return {MEAN: statistics.mean, DEVIATION: statistics.deviation} if statistics else {}


def weights_of_checkpoint(
    prefix: Path, variables: Sequence[Any], identity: ModelIdentity, drop_layers: int
) -> dict[str, npt.NDArray[np.float32]]:
    """Return the values of a network's variables, float32, by name: all but those of the `drop_layers` last layers.

    Beside them are the statistics that its features are normalized by. `variables` are those of a graph of the network,
    and may be more. Raise CheckpointError if the checkpoint at `prefix` cannot be read or belongs to another model.
    """
    network = identity.network
    dropped = network.last_layers(drop_layers)
    names = {name for name in network.shapes if network.layer_of(name) not in dropped}
    names.update(statistics_names(identity.features))
    kept = [variable for variable in variables if variable.op.name in names]
    description = read_description(prefix)
    if dropped:
        check_features(prefix, description, identity)
    else:
        check_described_network(prefix, description, identity)
        check_identity(prefix, description, identity)
    sources = find_sources(prefix, kept, identity, averaged=True)
    reader = tf.train.load_checkpoint(str(prefix))
    return {name: source.read(reader) for name, source in sources.items()}


def _check_alphabet(path: Path, labels: tuple[str | bytes, ...] | None, outputs: int, alphabet: Alphabet) -> None:
    if labels is not None and labels != alphabet.output_labels:
        cause = f"its alphabet is {_shown(labels)}, but this run's is {_shown(alphabet.output_labels)}"
    elif outputs != alphabet.size + 1:
        cause = f"its alphabet has {outputs - 1} labels, but this run's has {alphabet.size}"
    else:
        return
    raise CheckpointError(
        f"--initialize_from_frozen_model={path}: {cause}; give its alphabet with --alphabet_config_path, or begin the "
        "last layer untrained with --drop_source_layers=1"
    )


def _shown(labels: Sequence[str | bytes]) -> str:
    texts = [label.decode("latin-1") if isinstance(label, bytes) else label for label in labels]
    return repr("".join(texts[:SHOWN_LABELS])) + (" …" if len(texts) > SHOWN_LABELS else "")


def _misfit(path: Path, name: str, found: tuple[int, ...], expected: tuple[int, ...], source: Network) -> str:
    n_hidden = source.weighted_layers[0].width(0)
    return (
        f"--initialize_from_frozen_model={path}: variable {name} has shape {list(found)}, but this model needs "
        f"{list(expected)}; give --n_hidden={n_hidden}, or begin more layers untrained with --drop_source_layers"
    )
