"""Loading an acoustic model: from an exported graph, or from a model in ONNX or for LiteRT."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import NamedTuple, Protocol

from ...errors import GraphError, ModelError
from ...util.web.libraries import check_libraries
from ..engine import AcousticEngine, Engine
from ..feature_windows import ModelFeatures
from ..frozen.graph import GRAPH_SUFFIXES, mapped_file
from ..frozen.model import ModelInfo, read_frozen_model
from ..layers.layer import Array
from ..layers.precision import Precision

ONNX_SUFFIX, LITERT_SUFFIX = ".onnx", ".tflite"

LITERT_IDENTIFIER = b"TFL3"
"""Bytes 4 to 8 of files for LiteRT."""


class Windows(Protocol):
    """One signal that comes in pieces."""

    def feed(self, samples: Array) -> Array:
        """Take float32 [samples] in [-1, 1]; return the windows that are complete now, float32 [time, n_input]."""

    def finish(self) -> Array:
        """Return the windows that are left, float32 [time, n_input]."""


class AcousticFeatures(Protocol):
    """The features that an engine takes from signals."""

    def windows(self) -> Windows:
        """Begin a signal."""

    def windows_of(self, signal: Array) -> Array:
        """Return the training features of a whole signal, float32 [samples] in [-1, 1]: windows [time, n_input]."""


class AcousticModel(NamedTuple):
    """A loaded model: its metadata, the engine that computes posteriors, and the features that the engine takes."""

    info: ModelInfo
    engine: AcousticEngine
    features: AcousticFeatures


def load_acoustic_model(path: str | PathLike[str], precision: str = Precision.FLOAT32.value) -> AcousticModel:
    """Load a `.pb` or `.pbmm` graph, a `.onnx` model, or a file for LiteRT, `.tflite`; of a folder, its only model.

    Raise GraphError if the file cannot be used, FeatureError if its features cannot be computed, and ModelError for an
    unknown precision, or for a `.tflite` file and `int8` or `bfloat16`, as its weights are fixed.
    """
    chosen = Precision.named(precision)
    path = model_file(Path(path))
    if path.suffix.lower() == ONNX_SUFFIX:
        from .onnx_model import load_onnx_model  # needs onnxruntime

        return load_onnx_model(path, precision)
    if not is_loaded_as_graph(path):
        return _for_litert(path, precision)
    model = read_frozen_model(path)
    return AcousticModel(model.info, Engine(model, chosen), ModelFeatures(model.info))


def model_file(path: Path) -> Path:
    """Return the path of a model's file, which is the path itself unless it is a folder, such as that of an export.

    Raise GraphError for a folder that does not hold exactly one model, and for one that cannot be read.
    """
    if not os.path.isdir(path):  # noqa: PTH112 - unlike a Path, it raises no error, as reading the file does
        return path
    suffixes = (*GRAPH_SUFFIXES, ONNX_SUFFIX, LITERT_SUFFIX)
    try:
        inside = sorted(path.iterdir())
    except OSError as error:
        raise GraphError(f"{path}: cannot be read ({error.strerror})") from error
    shown = [each for each in inside if not each.name.startswith(".")]  # macOS puts ._a.pb beside a.pb
    found = [each for each in shown if each.suffix.lower() in suffixes and each.is_file()]
    if not found:
        raise GraphError(f"{path}: is a folder without a model; deepspeech-train exports one with --export_dir")
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise GraphError(f"{path}: is a folder of several models, {names}; name one, such as {found[0]}")
    return found[0]


def is_loaded_as_graph(path: Path) -> bool:
    """Return whether a file is loaded as an exported graph, and not as a model in ONNX or for LiteRT."""
    return path.suffix.lower() not in (ONNX_SUFFIX, LITERT_SUFFIX) and not _is_for_litert(path)


def _for_litert(path: Path, precision: str) -> AcousticModel:
    check_libraries(str(path), ["ai_edge_litert"], "litert", GraphError)
    from .litert.model import read_litert_model

    try:
        info, engine = read_litert_model(path, memoryview(mapped_file(path)))
    except GraphError as error:
        raise GraphError(f"{path}: {error}; give one that Coqui STT, DeepSpeech 0.9 or this program exported") from None
    if precision in (Precision.INT8.value, Precision.BFLOAT16.value):
        raise ModelError(f"{path}: its weights are what they are; leave out the precision, or export it with 8 bits")
    return AcousticModel(info, engine, ModelFeatures(info))


def _is_for_litert(path: Path) -> bool:
    """Return whether a file has the identifier of LiteRT; if it cannot be read, the loader reports why."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(8)[4:] == LITERT_IDENTIFIER
    except (OSError, ValueError):
        return False
