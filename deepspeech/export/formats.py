"""The formats of exported models, by name. This module needs no TensorFlow; a format's own module makes its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from ..errors import ExportError
from ..network import LSTM, Dense, Network
from ..network.frozen_format import check_frozen
from ..options import ExportOptions
from ..options.export import GRAPH, ONNX, TFLITE
from ..util.features import FeatureOptions
from ..util.frames.normalization import FeatureStatistics
from ..util.text import Alphabet


@dataclass(frozen=True)
class TrainedModel:
    """What every format holds: a network with its weights, float32 by variable name, and what they stand for.

    `statistics` are what the features are normalized by, if they are.
    """

    network: Network
    weights: Mapping[str, npt.NDArray[np.float32]]
    alphabet: Alphabet
    features: FeatureOptions
    statistics: FeatureStatistics | None = None


@dataclass(frozen=True)
class Format:
    """A format: the file of a model, the module here that makes it, and the package that this takes, if it takes one.

    `check` raises ExportError for a network that the format cannot hold.
    """

    file: str
    module: str
    check: Callable[[Network], None]
    package: str = ""

    def check_available(self) -> None:
        """Raise ExportError if the package is not installed."""
        if self.package and find_spec(self.package) is None:
            raise ExportError(
                f"{self.file} is written by the package {self.package}, which is not installed; pip install "
                f"{self.package}, or install the extra {self.package} of this program"
            )

    def serialized(self, model: TrainedModel, options: ExportOptions) -> bytes:
        """Return the content of the file; raise ExportError if the model cannot be exported."""
        content: bytes = import_module(f".{self.module}", __package__).serialized(model, options)
        return content


def check_onnx(network: Network) -> None:
    """Raise ExportError, naming the layer, for a network that has layers other than DeepSpeech's, or no LSTM."""
    _check_layers(network, "ONNX")


def check_tflite(network: Network) -> None:
    """Raise ExportError, naming the layer, for a network that has layers other than DeepSpeech's, or no LSTM."""
    _check_layers(network, "TFLite")


def _check_layers(network: Network, format_name: str) -> None:
    check_frozen(network)
    for layer in network.layers_after_window:
        if not isinstance(layer, (Dense, LSTM)):
            raise ExportError(
                f"network {network.name} cannot be exported as {format_name}: its layer {layer.name} is a "
                f"{type(layer).__name__}, but only Dense and LSTM are; leave out --export_format"
            )


FORMATS: Mapping[str, Format] = {
    GRAPH: Format("output_graph.pb", "frozen_graph", check_frozen),
    ONNX: Format("model.onnx", "onnx_model", check_onnx, package="onnx"),
    TFLITE: Format("output_graph.tflite", "tflite_model", check_tflite),
}
"""The formats by the values of the flag `export_format`."""
