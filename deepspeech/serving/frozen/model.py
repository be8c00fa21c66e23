"""The speech model of an exported graph: its network, weights, alphabet and features.

Graphs of DeepSpeech 0.6 to 0.9 and of this project are read whole, those of older versions as far as their weights.
This module needs no TensorFlow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...decoder import CLIENT_BEAM_WIDTH
from ...errors import FeatureError, GraphError, NetworkError
from ...network.deepspeech import UNNAMED_NETWORK
from ...network.deepspeech import layers as layers_of_deepspeech
from ...network.description import ContextWindow, Network, Sizes, Variable
from ...util.features import FeatureOptions
from ...util.frames.normalization import FeatureStatistics
from ...util.output_units import ByteAlphabet
from ...util.text import Alphabet
from .graph import Graph, read_graph
from .metadata import READABLE_VERSIONS, parse_alphabet, parse_features, parse_network


@dataclass(frozen=True)
class ModelInfo:
    """The metadata of an exported graph."""

    path: Path
    labels: tuple[str | bytes, ...]
    features: FeatureOptions
    n_steps: int
    beam_width: int
    language: str
    network: Network
    output_unit: str = Alphabet.unit
    """What a label stands for, a name of `deepspeech.util.output_units.UNITS`."""
    unit_data: bytes = b""
    """What the alphabet of that unit needs beside its labels."""
    statistics: FeatureStatistics | None = None
    """What the features are normalized by, if they are."""

    @property
    def row_seconds(self) -> float:
        """Seconds from one row of posteriors to the next."""
        return self.features.network_step_ms * self.network.time_reduction / 1000


@dataclass(frozen=True)
class FrozenModel:
    """The model of an exported graph. `weights` are float32, read-only, by the names of the variables."""

    info: ModelInfo
    weights: Mapping[str, npt.NDArray[np.float32]]


def read_frozen_model(path: str | PathLike[str]) -> FrozenModel:
    """Read a model; raise GraphError, naming the file and what is wrong with it."""
    path = Path(path)
    try:
        graph = read_graph(path)
        return _model(path, graph)
    except GraphError as error:
        raise GraphError(f"{path}: {error}; give a graph that DeepSpeech 0.6 to 0.9 or this program exported") from None


def read_network(graph: Graph) -> Network:
    """Return the network of a graph of any generation; raise GraphError if it cannot be run.

    For a graph that does not describe its network, a frame with its neighbours is one wide frame without context.
    """
    if "metadata_network" in graph.nodes:
        shape = _input_shape(graph)
        network = parse_network(_text(graph, "metadata_network"), shape[3])
        if network.context != shape[2] // 2:
            raise GraphError(f"its input_node has shape {list(shape)}, which its network does not fit")
        return network
    unsized = _unsized_network(graph)
    shapes = {variable.name: graph.constant(_name_in(graph, variable)).shape for variable in unsized.variables}
    inputs = shapes[unsized.weighted_layers[0].variables(1)[0].name]
    try:
        return replace(unsized.resized(shapes), coefficients=inputs[0] if inputs else 0)
    except NetworkError as error:
        raise GraphError(f"its layers do not fit together: {error}") from None


def read_weights(graph: Graph, network: Network) -> dict[str, npt.NDArray[np.float32]]:
    """Return the weights of a graph, float32, by the current names of the network's variables.

    Raise GraphError if one is missing, misshapen or of another type.
    """
    weights = {}
    for variable in network.variables:
        value = graph.constant(_name_in(graph, variable))
        if value.dtype != np.float32:
            raise GraphError(f"its weights {variable.name} are not 32-bit floating-point numbers")
        if value.shape != variable.shape:
            raise GraphError(
                f"its layers do not fit together: {variable.name} has shape {list(value.shape)} instead of "
                f"{list(variable.shape)}"
            )
        weights[variable.name] = np.asarray(value, np.float32)
    forget_bias = _forget_bias(graph)
    if forget_bias:
        for name in (f"{layer.name}/bias" for layer in network.recurrent_layers):
            added = np.repeat(np.array([0, 0, forget_bias, 0], np.float32), len(weights[name]) // 4)
            weights[name] = weights[name] + added
    return weights


def describes_features(graph: Graph) -> bool:
    """Return whether a graph says what its features are, as they are not those of DeepSpeech's clients."""
    return "metadata_features" in graph.nodes


def read_features(graph: Graph) -> tuple[FeatureOptions, FeatureStatistics | None]:
    """Return the features of a graph, and what they are normalized by; raise GraphError if they cannot be computed.

    A graph that does not describe them has those of DeepSpeech's clients.
    """
    if describes_features(graph):
        return parse_features(_text(graph, "metadata_features"))
    window_ms = _integer(graph, "metadata_feature_win_len", 32)
    step_ms = _integer(graph, "metadata_feature_win_step", 20)
    if min(window_ms, step_ms) < 1:
        raise GraphError(f"its features have windows of {window_ms} ms every {step_ms} ms")
    try:
        options = FeatureOptions(
            sample_rate=_integer(graph, "metadata_sample_rate", 16_000),
            window_ms=window_ms,
            step_ms=step_ms,
            coefficients=_input_shape(graph)[3],
        )
    except FeatureError as error:
        raise GraphError(str(error)) from None
    return options, None


def _model(path: Path, graph: Graph) -> FrozenModel:
    _check_kind(graph)
    network = read_network(graph)
    weights = read_weights(graph, network)
    labels = read_labels(graph)
    if network.outputs != len(labels) + 1:
        raise GraphError(f"its alphabet has {len(labels)} labels, but the network has {network.outputs} outputs")
    shape = _input_shape(graph)
    if network.name == UNNAMED_NETWORK:
        network = _with_context(network, shape)
    features, statistics = read_features(graph)
    if features.width != shape[3]:
        raise GraphError(f"its input_node has shape {list(shape)}, which its features do not fit")
    info = ModelInfo(
        path=path,
        labels=labels,
        features=features,
        n_steps=_integer(graph, "metadata_n_steps", shape[1] if shape[1] > 0 else 16),
        beam_width=_integer(graph, "metadata_beam_width", CLIENT_BEAM_WIDTH),
        language=_language(graph),
        network=network,
        output_unit=read_output_unit(graph, labels),
        unit_data=_text(graph, "metadata_unit_data") if "metadata_unit_data" in graph.nodes else b"",
        statistics=statistics,
    )
    return FrozenModel(info, weights)


def _unsized_network(graph: Graph) -> Network:
    """Return the network of graphs that do not describe theirs, with the limit of its ReLU, but sizes of 1."""
    sizes = Sizes(1, 1, n_hidden=1, relu_clip=_relu_clip(graph), context=0, dropout_rates=(0.0,) * 6)
    return Network(UNNAMED_NETWORK, 1, layers_of_deepspeech(sizes))


def _with_context(network: Network, shape: tuple[int, ...]) -> Network:
    """Return a network that was read without context, with the context of the graph's input."""
    if shape[2] * shape[3] != network.coefficients:
        raise GraphError(f"its input_node has shape {list(shape)}, which the weights do not fit")
    window, *layers = network.layers
    assert isinstance(window, ContextWindow)
    return replace(network, coefficients=shape[3], layers=(replace(window, frames=shape[2] // 2), *layers))


def _input_shape(graph: Graph) -> tuple[int, ...]:
    """Return the shape of `input_node`, [batch, n_steps, 2 * context + 1, coefficients]; -1 is an unknown dimension."""
    shape = graph.nodes["input_node"].shape
    if len(shape) != 4 or shape[2] < 1 or shape[2] % 2 == 0 or shape[3] < 1:
        raise GraphError(f"its input_node has shape {list(shape)}, which is not that of windows of features")
    return shape


def _name_in(graph: Graph, variable: Variable) -> str:
    """Return the name of a variable in a graph of any generation."""
    older = variable.older_name
    return older if variable.name not in graph.nodes and older in graph.nodes else variable.name


def _check_kind(graph: Graph) -> None:
    for name in ("input_node", "logits"):
        if name not in graph.nodes:
            raise GraphError(f"is not a speech model, as it has no node {name}")
    version = _integer(graph, "metadata_version", 0)
    if version not in READABLE_VERSIONS:
        readable = f"{READABLE_VERSIONS.start} to {READABLE_VERSIONS.stop - 1}"
        raise GraphError(f"has graph version {version or 'none'}, but {readable} are read")
    if any("LayerNorm" in name for name in graph.nodes):
        raise GraphError("has layer normalization, which is not supported")


def _forget_bias(graph: Graph) -> float:
    """Return the bias that the first generation's LSTM adds to the forget gate when it runs; 0 for later ones."""
    cells = [node for node in graph.nodes.values() if node.op in ("BlockLSTM", "BlockLSTMV2", "LSTMBlockCell")]
    return cells[0].float_attribute("forget_bias", 1.0) if cells else 0.0


def _relu_clip(graph: Graph) -> float:
    for node in graph.nodes.values():
        if node.op == "Minimum" and len(node.inputs) == 2:
            limit = graph.nodes.get(node.inputs[1].split(":")[0])
            if limit is not None and limit.op in ("Const", "ImmutableConst"):
                value = graph.constant(limit.name)
                if value.size == 1 and value.dtype == np.float32:
                    return float(value.reshape(-1)[0].item())
    return float("inf")


def read_labels(graph: Graph) -> tuple[str | bytes, ...]:
    """Return the labels of a graph, characters or bytes; raise GraphError if it holds no alphabet."""
    if "metadata_alphabet" not in graph.nodes:
        raise GraphError("holds no alphabet, as it is older than DeepSpeech 0.6")
    labels = parse_alphabet(_text(graph, "metadata_alphabet"))
    try:
        return tuple(label.decode() for label in labels)
    except UnicodeDecodeError:
        return labels


def read_output_unit(graph: Graph, labels: Sequence[str | bytes]) -> str:
    """Return the output unit; graphs of characters and bytes do not name theirs, as those of DeepSpeech."""
    if "metadata_output_unit" in graph.nodes:
        return _text(graph, "metadata_output_unit").decode("utf-8", "replace")
    return ByteAlphabet.unit if any(isinstance(label, bytes) for label in labels) else Alphabet.unit


def _text(graph: Graph, name: str) -> bytes:
    values = graph.constant(name)
    if values.dtype != object or not len(values):
        raise GraphError(f"its {name} is not text")
    text: bytes = values[0]
    return text


def _integer(graph: Graph, name: str, default: int) -> int:
    if name not in graph.nodes:
        return default
    value = graph.constant(name)
    if value.dtype != np.int32 or value.size != 1:
        raise GraphError(f"its {name} is not a number")
    return int(value.reshape(-1)[0].item())


def _language(graph: Graph) -> str:
    if "metadata_language" not in graph.nodes:
        return ""
    values = graph.constant("metadata_language")
    return values[0].decode("utf-8", "replace") if values.dtype == object and len(values) else ""
