"""The weights of a model and its description, from any kind of file.

HDF5 files and exported graphs are read without TensorFlow. Graphs are also read without h5py, which only training
installs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import CheckpointError, FeatureError, GraphError
from ...network import Dense, Network
from ...network.deepspeech import UNNAMED_NETWORK
from ...options import CheckpointOptions
from ...serving.frozen.features import describes_features, read_features
from ...serving.frozen.graph import GRAPH_SUFFIXES, Graph, read_graph
from ...serving.frozen.model import (
    read_labels,
    read_network,
    read_output_unit,
    read_weights,
)
from ...util.features import FeatureOptions
from ...util.files.folders import files_like
from ...util.frames.normalization import DEVIATION, MEAN
from ...util.text import Alphabet
from ..folder_reading import holds_checkpoints
from ..identity import DESCRIPTION_FORMAT, is_description

_HDF5_SUFFIXES = (".h5", ".hdf5")


@dataclass(frozen=True)
class LayerWeights:
    """The weights of a layer by name, in their order; of any numeric type and shape."""

    name: str
    weights: Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class ModelWeights:
    """Weights by layers, and the description of their model, as beside a checkpoint; it may be empty.

    Errors name the file `origin`.
    """

    origin: str
    layers: tuple[LayerWeights, ...]
    description: Mapping[str, Any]

    @cached_property
    def values(self) -> dict[str, npt.NDArray[Any]]:
        """All weights by their names, without the suffix that Keras 2 adds to names of variables.

        If several weights have the same name, as in files of Keras 3.0, the layer's name precedes each.
        """
        often = Counter(name.removesuffix(":0") for layer in self.layers for name in layer.weights)
        return {
            short if often[short := name.removesuffix(":0")] == 1 else f"{layer.name}/{name}": value
            for layer in self.layers
            for name, value in layer.weights.items()
        }

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The labels, if they are known."""
        labels = self.description.get("alphabet")
        return None if labels is None else tuple(labels)

    @property
    def output_unit(self) -> str:
        """The kind of the labels, such as characters."""
        return str(self.description.get("output_unit", Alphabet.unit))

    @property
    def network_name(self) -> str:
        """The name of the network; DeepSpeech's if unknown."""
        return str(self.description.get("network", {}).get("name", UNNAMED_NETWORK))

    @property
    def features(self) -> FeatureOptions | None:
        """The features, if they are known; raise CheckpointError for features that cannot be computed."""
        return described_features(self.description, self.origin)


def described_features(description: Mapping[str, Any], origin: str) -> FeatureOptions | None:
    """Return the features in a model's description, if it has any.

    Raise CheckpointError, which names the `origin`, for features that cannot be computed.
    """
    settings = description.get("features")
    if settings is None:
        return None
    try:
        return FeatureOptions(**settings)
    except (FeatureError, TypeError) as error:
        raise CheckpointError(f"{origin}: its features cannot be computed ({error})") from None


def weights_of_hdf5(path: Path, origin: str) -> ModelWeights:
    """Read a file that Keras or `deepspeech-weights export` wrote; raise CheckpointError."""
    from .hdf5 import read_hdf5

    layers, description = read_hdf5(path, origin)
    _check_description(origin, description)
    return ModelWeights(origin, layers, description)


def is_graph(path: Path) -> bool:
    """Return whether a file is an exported graph, by its name."""
    return path.suffix.lower() in GRAPH_SUFFIXES


def graph_in(path: Path) -> Path:
    """Return the only exported graph of a folder without checkpoints, such as that of an export, or else the path."""
    if not path.is_dir() or holds_checkpoints(path):
        return path
    graphs = [each for each in files_like(path, "*") if is_graph(each)]
    return graphs[0] if len(graphs) == 1 else path


def is_hdf5(path: Path) -> bool:
    """Return whether a file is an HDF5 file, by its name or its content."""
    import h5py

    return path.suffix.lower() in _HDF5_SUFFIXES or (path.is_file() and bool(h5py.is_hdf5(path)))


def weights_of_graph(path: Path, origin: str) -> ModelWeights:
    """Read an exported graph of any generation; raise CheckpointError."""
    try:
        graph = read_graph(path)
        network = read_network(graph)
        values: dict[str, npt.NDArray[Any]] = {**read_weights(graph, network)}
        known = describes_features(graph) or "metadata_sample_rate" in graph.nodes
        features, statistics = read_features(graph) if known else (FeatureOptions(), None)
        if statistics is not None:
            values |= {MEAN: statistics.mean, DEVIATION: statistics.deviation}
        return ModelWeights(origin, by_layers(network, values), _description_of_graph(graph, network, features))
    except GraphError as error:
        raise CheckpointError(
            f"{origin}: {error}; give a graph, .pb or .pbmm, that DeepSpeech or this program exported"
        ) from None


def read_initial_weights(options: CheckpointOptions) -> ModelWeights | None:
    """Return the weights of the file that a flag names; None if none does. Raise CheckpointError."""
    path = options.initial_file
    if path is None:
        return None
    of_graph, of_hdf5 = "--initialize_from_frozen_model", "--initialize_from_weights"
    origin = f"{of_graph if options.initial_weights is None else of_hdf5}={path}"
    path = graph_in(path)
    if path.is_dir():
        instead = "start from the weights of its checkpoint with --load_checkpoint_dir and --fresh_optimizer"
        raise CheckpointError(f"{origin}: is a folder; {instead if holds_checkpoints(path) else 'name the file in it'}")
    if options.initial_weights is None:
        if is_hdf5(path):
            raise CheckpointError(f"{origin}: is an HDF5 file, and not an exported graph; give it with {of_hdf5}")
        return weights_of_graph(path, origin)
    if is_graph(path):
        raise CheckpointError(f"{origin}: is an exported graph, and not an HDF5 file; give it with {of_graph}")
    return weights_of_hdf5(path, origin)


def by_layers(network: Network, values: Mapping[str, npt.NDArray[Any]]) -> tuple[LayerWeights, ...]:
    """Return the weights of a network, and the statistics of its features, by layers in their order."""
    layers = {"features": {name: values[name] for name in (MEAN, DEVIATION) if name in values}}
    for layer, inputs in network.layers_with_inputs:
        of_layer = layers.setdefault(layer.name, {})  # a layer of the network may also be called "features"
        of_layer |= {variable.name: values[variable.name] for variable in layer.variables(inputs)}
    return tuple(LayerWeights(name, weights) for name, weights in layers.items() if weights)


def _check_description(origin: str, description: Mapping[str, Any]) -> None:
    """Raise CheckpointError for a description whose parts are not like those of a checkpoint."""
    described = {"format": DESCRIPTION_FORMAT, **description}
    if not is_description(described) or "layers" not in described.get("network", {"layers": []}):
        raise CheckpointError(
            f"{origin}: its description is not one of format {DESCRIPTION_FORMAT}; was it written by a newer version?"
        )


def _description_of_graph(graph: Graph, network: Network, features: FeatureOptions) -> dict[str, Any]:
    described: dict[str, Any] = {"format": DESCRIPTION_FORMAT}
    if "metadata_alphabet" in graph.nodes:
        labels = read_labels(graph)
        unit = read_output_unit(graph, labels)
        described["alphabet"] = [label.decode("latin-1") if isinstance(label, bytes) else label for label in labels]
        if unit != Alphabet.unit:
            described["output_unit"] = unit
    described["features"] = features.to_json()
    if network.name == UNNAMED_NETWORK:
        described["model"] = _flags_of_deepspeech(network)
    else:
        described["network"] = {"name": network.name, "layers": network.to_json()}
    return described


def _flags_of_deepspeech(network: Network) -> dict[str, Any]:
    """Return the flags that determine the layers of DeepSpeech's network, as far as a graph contains them."""
    first = network.weighted_layers[0]
    assert isinstance(first, Dense)
    told: dict[str, Any] = {"n_hidden": first.units}
    if first.clip is not None and np.isfinite(first.clip):
        told["relu_clip"] = float(str(np.float32(first.clip)))  # 5.3, not its float32 value
    return told
