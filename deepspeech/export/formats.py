"""The formats of exported models, by name. This module needs no TensorFlow; a format's own module makes its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import numpy.typing as npt

from ..errors import ExportError
from ..network import Network
from ..network.frozen.supported import OF_CLIENTS, check_frozen
from ..options import ExportOptions
from ..options.export import GRAPH, ONNX, SHERPA, TFLITE
from ..serving.frozen.metadata import MOST_LABELS
from ..util.features import FRONT_ENDS, FeatureOptions
from ..util.frames.normalization import FeatureStatistics
from ..util.output_units import WordPieceAlphabet
from ..util.output_units.word_pieces import WORD_BEGIN
from ..util.text import Alphabet
from ..util.web.libraries import check_libraries

SHERPA_BLANK = "<blk>"
"""The name of the blank in sherpa-onnx."""

SHERPA_UNWRITTEN = ("SIL", "</s>")
"""Names of labels that sherpa-onnx leaves out of texts."""


@dataclass(frozen=True)
class TrainedModel:
    """A trained model, for every format: a network with its weights, float32 by variable name, alphabet and features.

    `statistics` normalize the features, if they are normalized.
    """

    network: Network
    weights: Mapping[str, npt.NDArray[np.float32]]
    alphabet: Alphabet
    features: FeatureOptions
    statistics: FeatureStatistics | None = None


def check_label_count(alphabet: Alphabet) -> None:
    """Raise ExportError if there are more labels than exported models can hold."""
    if alphabet.size > MOST_LABELS:
        raise ExportError(
            f"the alphabet has {alphabet.size:,} labels, but an exported model holds {MOST_LABELS:,} at most; train "
            "with fewer, or without --export_dir"
        )


@dataclass(frozen=True)
class Format:
    """A format: the file of a model, the module here that makes it, and the package that the module needs, if any.

    `check` raises ExportError for a network that the format does not support, `check_features` for features, and
    `check_labels` for an alphabet. `others` are files that may be beside the model.
    """

    file: str
    module: str
    check: Callable[[Network], None]
    package: str = ""
    check_features: Callable[[FeatureOptions], None] = lambda _features: None
    check_labels: Callable[[Alphabet], None] = check_label_count
    others: tuple[str, ...] = ()

    def check_available(self) -> None:
        """Raise ExportError if the package is not installed."""
        if self.package:
            check_libraries(f"writing {self.file}", [self.package], self.package, ExportError)

    def serialized(self, model: TrainedModel, options: ExportOptions) -> bytes:
        """Return the content of the file; raise ExportError if the model cannot be exported."""
        return self.files(model, options)[self.file]

    def files(self, model: TrainedModel, options: ExportOptions) -> dict[str, bytes]:
        """Return the content of all files by name; raise ExportError if the model cannot be exported."""
        module = import_module(f".{self.module}", __package__)
        made: dict[str, bytes] = (
            module.files(model, options) if self.others else {self.file: module.serialized(model, options)}
        )
        return made


def check_sherpa(features: FeatureOptions) -> None:
    """Raise ExportError for features that sherpa-onnx does not compute."""
    if features.feature_type != "fbank":
        raise ExportError(
            f"--feature_type={features.feature_type}: sherpa-onnx computes fbank; train a model with "
            "--feature_type=fbank, or export another format"
        )
    if (features.window_ms, features.step_ms) != FRONT_ENDS["fbank"][:2]:
        raise ExportError(
            f"--feature_win_len={features.window_ms}, --feature_win_step={features.step_ms}: sherpa-onnx computes "
            "windows of 25 ms every 10 ms; train a model without these flags, or export another format"
        )


def check_sherpa_labels(alphabet: Alphabet) -> None:
    """Raise ExportError for labels that sherpa-onnx cannot write or name, and for too many labels."""
    check_label_count(alphabet)
    if alphabet.unit not in (Alphabet.unit, WordPieceAlphabet.unit):
        raise ExportError(
            f"--output_unit={alphabet.unit}: sherpa-onnx writes characters and word pieces; export another format"
        )
    for label in alphabet.labels:
        name = label.replace(" ", WORD_BEGIN)
        if WORD_BEGIN in label or name == SHERPA_BLANK or any(map(str.isspace, name)) or WORD_BEGIN in name[1:]:
            raise ExportError(f"label {label!r} has no name in tokens.txt of sherpa-onnx; export another format")
        if name in SHERPA_UNWRITTEN:
            raise ExportError(f"label {label!r} is left out of texts by sherpa-onnx; export another format")


def check_tflite(network: Network) -> None:
    """Raise ExportError, which names the layer, for a network with layers other than DeepSpeech's, or without LSTM."""
    check_frozen(network)
    for layer in network.layers_after_window:
        if not isinstance(layer, OF_CLIENTS):
            raise ExportError(
                f"network {network.name} cannot be exported as TFLite: its layer {layer.name} is a "
                f"{type(layer).__name__}, but only Dense and LSTM are; leave out --export_format"
            )


FORMATS: Mapping[str, Format] = {
    GRAPH: Format("output_graph.pb", "frozen_graph", check_frozen),
    ONNX: Format("model.onnx", "onnx_model", check_frozen, package="onnx"),
    SHERPA: Format(
        "model.onnx",
        "sherpa_model",
        check_frozen,
        package="onnx",
        check_features=check_sherpa,
        check_labels=check_sherpa_labels,
        others=("model-streaming.onnx", "tokens.txt"),
    ),
    TFLITE: Format("output_graph.tflite", "tflite_model", check_tflite),
}
"""The formats by the values of the flag `export_format`."""
