"""The speech model of an exported graph: its network, weights, alphabet and features.

Graphs of DeepSpeech 0.6 to 0.9 and of this project are read completely; of older graphs, only the weights are read.
This module needs no TensorFlow.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...decoder import CLIENT_BEAM_WIDTH
from ...errors import GraphError, NetworkError
from ...network.deepspeech import UNNAMED_NETWORK
from ...network.deepspeech import layers as layers_of_deepspeech
from ...network.description import ContextWindow, Convolution, Network, Sizes, Variable
from ...options.export import LARGEST_BEAM_WIDTH, LARGEST_N_STEPS
from ...util.features import FeatureOptions
from ...util.frames.normalization import FeatureStatistics
from ...util.output_units import ByteAlphabet
from ...util.text import Alphabet
from ..confidence.calibration import Calibrations
from .features import read_features
from .graph import Graph, read_graph
from .metadata import CALIBRATIONS_NODE, READABLE_VERSIONS, parse_alphabet, parse_network
from .nodes import LARGEST_WIDTH, Constants, input_shape, integer_of, is_finite, text_of

FLOAT32_BYTES = 4
MOST_UNWRITTEN_BYTES = 1 << 24
MOST_EXPANSION = 4
"""Weights may take four times the file's size and 16 MiB more, as equal weights can be written as one number."""


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
    """The unit of a label, a name in `deepspeech.util.output_units.UNITS`."""
    unit_data: bytes = b""
    """The data that the alphabet of that unit needs in addition to its labels."""
    statistics: FeatureStatistics | None = None
    """The statistics that normalize the features, if there are any."""
    calibrations: Calibrations = field(default_factory=Calibrations)
    """How the confidences of words are computed."""

    @property
    def row_seconds(self) -> float:
        """Seconds from one row of posteriors to the next."""
        return self.features.network_step_ms * self.network.time_reduction / 1000


@dataclass(frozen=True)
class FrozenModel:
    """The model of an exported graph. `weights` are float32, read-only, by the names of the variables."""

    info: ModelInfo
    weights: Mapping[str, npt.NDArray[np.float32]]
    release_memory: Callable[[], None] = lambda: None
    """Releases the memory of weights that were read; the system reads them again if they are used."""


def read_frozen_model(path: str | PathLike[str]) -> FrozenModel:
    """Read a model; raise GraphError, which names the file and what is wrong with it."""
    path = Path(path)
    try:
        graph = read_graph(path)
        return _model(path, graph)
    except GraphError as error:
        raise GraphError(f"{path}: {error}; give a graph that DeepSpeech 0.6 to 0.9 or this program exported") from None


def read_network(graph: Graph) -> Network:
    """Return the network of a graph of any generation; raise GraphError if it cannot be run.

    If a graph does not describe its network, a frame with its neighbours is read as one wide frame without context.
    """
    if "metadata_network" in graph.nodes:
        shape = input_shape(graph)
        network = parse_network(text_of(graph, "metadata_network"), shape[3])
        if network.context != shape[2] // 2:
            raise GraphError(f"its input_node has shape {list(shape)}, which its network does not fit")
        return network
    unsized = _unsized_network(graph)
    shapes = {variable.name: graph.shape_of(_name_in(graph, variable)) for variable in unsized.variables}
    inputs = shapes[unsized.weighted_layers[0].variables(1)[0].name]
    try:
        return replace(unsized.resized(shapes), coefficients=inputs[0] if inputs else 0)
    except NetworkError as error:
        raise GraphError(f"its layers do not fit together: {error}") from None


def read_weights(graph: Graph, network: Network) -> dict[str, npt.NDArray[np.float32]]:
    """Return the weights of a graph, float32, by the current names of the network's variables.

    Raise GraphError if one is missing, misshapen or of another type, or holds numbers that are not finite.
    """
    _check_shapes(graph, network)
    weights = {}
    for variable in network.variables:
        value = graph.constant(_name_in(graph, variable))
        if value.dtype != np.float32:
            raise GraphError(f"its weights {variable.name} are not 32-bit floating-point numbers")
        if not is_finite(value):
            raise GraphError(f"its weights {variable.name} hold numbers that are not finite")
        weights[variable.name] = np.asarray(value, np.float32)
    forget_bias = _forget_bias(graph)
    if forget_bias:
        for name in (f"{layer.name}/bias" for layer in network.recurrent_layers):
            added = np.repeat(np.array([0, 0, forget_bias, 0], np.float32), len(weights[name]) // 4)
            weights[name] = weights[name] + added
    return weights


def read_info(path: Path, graph: Constants, network: Network) -> ModelInfo:
    """Return the metadata of a graph and its network; raise GraphError if something is missing or damaged."""
    labels = read_labels(graph)
    if network.outputs != len(labels) + 1:
        raise GraphError(f"its alphabet has {len(labels)} labels, but the network has {network.outputs} outputs")
    shape = input_shape(graph)
    if network.name == UNNAMED_NETWORK:
        network = _with_context(network, shape)
    features, statistics = read_features(graph)
    if features.width != shape[3]:
        raise GraphError(f"its input_node has shape {list(shape)}, which its features do not fit")
    return ModelInfo(
        path=path,
        labels=labels,
        features=features,
        n_steps=integer_of(graph, "metadata_n_steps", shape[1] if shape[1] > 0 else 16, range(1, LARGEST_N_STEPS + 1)),
        beam_width=integer_of(graph, "metadata_beam_width", CLIENT_BEAM_WIDTH, range(1, LARGEST_BEAM_WIDTH + 1)),
        language=_language(graph),
        network=network,
        output_unit=read_output_unit(graph, labels),
        unit_data=text_of(graph, "metadata_unit_data") if "metadata_unit_data" in graph.nodes else b"",
        statistics=statistics,
        calibrations=_calibrations(graph),
    )


def check_version(graph: Constants) -> None:
    """Raise GraphError for a graph of a version that cannot be read."""
    version = integer_of(graph, "metadata_version", 0)
    if version not in READABLE_VERSIONS:
        readable = f"{READABLE_VERSIONS.start} to {READABLE_VERSIONS.stop - 1}"
        raise GraphError(f"has graph version {version or 'none'}, but {readable} are read")


def _model(path: Path, graph: Graph) -> FrozenModel:
    _check_kind(graph)
    network = read_network(graph)
    weights = read_weights(graph, network)
    return FrozenModel(read_info(path, graph, network), weights, graph.release_memory)


def _check_shapes(graph: Graph, network: Network) -> None:
    """Raise GraphError unless the weights have the network's shapes and a size that the file can hold."""
    total = 0
    for layer, inputs in network.layers_with_inputs:
        # A convolution keeps as many frames as its kernel is long, even if it has few weights.
        kept = layer.time * inputs if isinstance(layer, Convolution) else 0
        if layer.width(inputs) > LARGEST_WIDTH or FLOAT32_BYTES * kept > MOST_UNWRITTEN_BYTES:
            raise GraphError(f"its layer {layer.name} is too large to be run")
    for variable in network.variables:
        shape = graph.shape_of(_name_in(graph, variable))
        if shape != variable.shape:
            raise GraphError(
                f"its layers do not fit together: {variable.name} has shape {list(shape)} instead of "
                f"{list(variable.shape)}"
            )
        total += FLOAT32_BYTES * variable.size
    if total > MOST_UNWRITTEN_BYTES + MOST_EXPANSION * graph.file_size:
        raise GraphError(f"declares weights of {total:,} bytes, which its {graph.file_size:,} bytes cannot hold")


def _unsized_network(graph: Graph) -> Network:
    """Return the network of a graph that does not describe it, with the limit of its ReLU, but with sizes of 1.

    Raise GraphError for a network with DeepSpeech's --layer_norm, which only the names of nodes show.
    """
    if any("LayerNorm" in name for name in graph.nodes):
        raise GraphError("has layer normalization, which is not supported")
    sizes = Sizes(1, 1, n_hidden=1, relu_clip=_relu_clip(graph), context=0, dropout_rates=(0.0,) * 6)
    return Network(UNNAMED_NETWORK, 1, layers_of_deepspeech(sizes))


def _with_context(network: Network, shape: tuple[int, ...]) -> Network:
    """Return a network that was read without context, with the context of the graph's input."""
    if shape[2] * shape[3] != network.coefficients:
        raise GraphError(f"its input_node has shape {list(shape)}, which the weights do not fit")
    window, *layers = network.layers
    assert isinstance(window, ContextWindow)
    return replace(network, coefficients=shape[3], layers=(replace(window, frames=shape[2] // 2), *layers))


def _name_in(graph: Graph, variable: Variable) -> str:
    """Return the name of a variable in a graph of any generation."""
    older = variable.older_name
    return older if variable.name not in graph.nodes and older in graph.nodes else variable.name


def _check_kind(graph: Graph) -> None:
    for name in ("input_node", "logits"):
        if name not in graph.nodes:
            raise GraphError(f"is not a speech model, as it has no node {name}")
    check_version(graph)


def _forget_bias(graph: Graph) -> float:
    """Return the bias that LSTMs of the first generation add to the forget gate at run time; 0 for later LSTMs."""
    cells = [node for node in graph.nodes.values() if node.op in ("BlockLSTM", "BlockLSTMV2", "LSTMBlockCell")]
    return cells[0].float_attribute("forget_bias", 1.0) if cells else 0.0


def _relu_clip(graph: Graph) -> float:
    for node in graph.nodes.values():
        if node.op == "Minimum" and len(node.inputs) == 2:
            limit = graph.nodes.get(node.inputs[1].split(":")[0])
            if limit is not None and limit.op in ("Const", "ImmutableConst") and prod(graph.shape_of(limit.name)) == 1:
                value = graph.constant(limit.name)
                if value.size == 1 and value.dtype == np.float32:
                    return float(value.reshape(-1)[0].item())
    return float("inf")


def read_labels(graph: Constants) -> tuple[str | bytes, ...]:
    """Return the labels of a graph, characters or bytes; raise GraphError if it holds no alphabet."""
    if "metadata_alphabet" not in graph.nodes:
        raise GraphError("holds no alphabet, as it is older than DeepSpeech 0.6")
    labels = parse_alphabet(text_of(graph, "metadata_alphabet"))
    try:
        return tuple(label.decode() for label in labels)
    except UnicodeDecodeError:
        return labels


def read_output_unit(graph: Constants, labels: Sequence[str | bytes]) -> str:
    """Return the output unit. Graphs of characters and bytes do not name it, like those of DeepSpeech."""
    if "metadata_output_unit" in graph.nodes:
        return text_of(graph, "metadata_output_unit").decode("utf-8", "replace")
    return ByteAlphabet.unit if any(isinstance(label, bytes) for label in labels) else Alphabet.unit


def _calibrations(graph: Constants) -> Calibrations:
    if CALIBRATIONS_NODE not in graph.nodes:
        return Calibrations()
    return Calibrations.from_json(text_of(graph, CALIBRATIONS_NODE))


def _language(graph: Constants) -> str:
    if "metadata_language" not in graph.nodes:
        return ""
    values = graph.constant("metadata_language")
    return values[0].decode("utf-8", "replace") if values.dtype == object and len(values) else ""
