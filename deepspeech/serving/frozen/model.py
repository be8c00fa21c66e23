"""A speech model out of an exported graph: its weights as arrays and what they mean.

Reads the graphs of DeepSpeech 0.6 to 0.9 and of this project, and the weights of those of the first generation. Needs
no TensorFlow.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...errors import FeatureError, GraphError
from ...network.variable_names import LSTM_SCOPE, SEED_NAMES
from ...util.features import FeatureOptions
from .graph import Array, Graph, read_graph
from .metadata import READABLE_VERSIONS, parse_alphabet

KERNEL, BIAS = f"{LSTM_SCOPE}/kernel", f"{LSTM_SCOPE}/bias"


@dataclass(frozen=True)
class ModelInfo:
    """What an exported graph says about itself."""

    path: Path
    labels: tuple[str | bytes, ...]
    features: FeatureOptions
    n_steps: int
    beam_width: int
    language: str
    relu_clip: float


@dataclass(frozen=True)
class FrozenModel:
    """What an exported graph holds. `weights` are float32, read-only, by the names of the variables."""

    info: ModelInfo
    weights: Mapping[str, npt.NDArray[np.float32]]


def read_frozen_model(path: str | PathLike[str]) -> FrozenModel:
    """Read a model; raises GraphError, naming the file and what is wrong with it."""
    path = Path(path)
    try:
        graph = read_graph(path)
        return _model(path, graph)
    except GraphError as error:
        raise GraphError(f"{path}: {error}; give a graph that DeepSpeech 0.6 to 0.9 or this program exported") from None


def read_weights(graph: Graph) -> dict[str, npt.NDArray[np.float32]]:
    """The weights of any generation by the names they have now; raises GraphError if one is missing or misshapen."""
    weights = {}
    for name, seed_name in SEED_NAMES.items():
        value = graph.constant(name if name in graph.nodes or seed_name not in graph.nodes else seed_name)
        if value.dtype != np.float32:
            raise GraphError(f"its weights {name} are no 32-bit floating-point numbers")
        weights[name] = np.asarray(value, np.float32)
    _check_shapes(weights)
    forget_bias = _forget_bias(graph)
    if forget_bias:
        n_hidden = len(weights[BIAS]) // 4
        weights[BIAS] = weights[BIAS] + np.repeat(np.array([0, 0, forget_bias, 0], np.float32), n_hidden)
    return weights


def _model(path: Path, graph: Graph) -> FrozenModel:
    _check_kind(graph)
    weights = read_weights(graph)
    labels = read_labels(graph)
    outputs = weights["layer_6/weights"].shape[1]
    if outputs != len(labels) + 1:
        raise GraphError(f"its alphabet has {len(labels)} labels, but the network has {outputs} outputs")
    shape = graph.nodes["input_node"].shape
    if (
        len(shape) != 4
        or shape[2] < 1
        or shape[2] % 2 == 0
        or shape[2] * shape[3] != weights["layer_1/weights"].shape[0]
    ):
        raise GraphError(f"its input_node has shape {list(shape)}, which the weights do not fit")
    info = ModelInfo(
        path=path,
        labels=labels,
        features=_features(graph, context=shape[2] // 2, coefficients=shape[3]),
        n_steps=shape[1] if shape[1] > 0 else 16,
        beam_width=_integer(graph, "metadata_beam_width", 500),
        language=_language(graph),
        relu_clip=_relu_clip(graph),
    )
    return FrozenModel(info, weights)


def _check_kind(graph: Graph) -> None:
    for name in ("input_node", "logits"):
        if name not in graph.nodes:
            raise GraphError(f"is not a speech model, it has no node {name}")
    version = _integer(graph, "metadata_version", 0)
    if version not in READABLE_VERSIONS:
        readable = f"{READABLE_VERSIONS.start} to {READABLE_VERSIONS.stop - 1}"
        raise GraphError(f"has graph version {version or 'none'}, but {readable} are read")
    if any("LayerNorm" in name for name in graph.nodes):
        raise GraphError("has layer normalization, which is not supported")


def _features(graph: Graph, *, context: int, coefficients: int) -> FeatureOptions:
    try:
        return FeatureOptions(
            sample_rate=_integer(graph, "metadata_sample_rate", 16_000),
            window_ms=_integer(graph, "metadata_feature_win_len", 32),
            step_ms=_integer(graph, "metadata_feature_win_step", 20),
            coefficients=coefficients,
            context=context,
        )
    except FeatureError as error:
        raise GraphError(str(error)) from None


def _check_shapes(weights: Mapping[str, Array]) -> None:
    sizes = {}
    for layer in (1, 2, 3, 5, 6):
        matrix, bias = weights[f"layer_{layer}/weights"], weights[f"layer_{layer}/bias"]
        if matrix.ndim != 2 or bias.shape != matrix.shape[1:]:
            raise GraphError(f"its layer {layer} has weights {matrix.shape} and a bias {bias.shape}")
        sizes[layer] = matrix.shape
    n_hidden = len(weights[BIAS]) // 4
    fits = weights[KERNEL].shape == (sizes[3][1] + n_hidden, 4 * n_hidden)
    chained = (sizes[1][1], sizes[2][1], n_hidden, sizes[5][1]) == (sizes[2][0], sizes[3][0], sizes[5][0], sizes[6][0])
    if not (fits and chained):
        raise GraphError("its layers do not fit together")


def _forget_bias(graph: Graph) -> float:
    """What the first generation's LSTM adds to the forget gate when it runs."""
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
    """The labels of a graph, characters or bytes; raises GraphError if it holds none."""
    if "metadata_alphabet" not in graph.nodes:
        raise GraphError("holds no alphabet, it is older than DeepSpeech 0.6")
    values = graph.constant("metadata_alphabet")
    if values.dtype != object or not len(values):
        raise GraphError("its alphabet is no text")
    labels = parse_alphabet(values[0])
    try:
        return tuple(label.decode() for label in labels)
    except UnicodeDecodeError:
        return labels


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
