"""Loading a model of any format."""

from __future__ import annotations

from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from ...errors import GraphError, ModelError
from ..engine import AcousticModel, Engine
from ..frozen.graph import mapped_file
from ..frozen.model import ModelInfo, read_frozen_model
from ..layers.precision import Precision

LITERT_IDENTIFIER = b"TFL3"
"""Bytes 4 to 8 of files for LiteRT."""

LITERT_SUFFIX = ".tflite"


class LoadedModel(NamedTuple):
    """A model that is ready to be run."""

    info: ModelInfo
    engine: AcousticModel


def load_model(path: str | PathLike[str], precision: str = Precision.FLOAT32.value) -> LoadedModel:
    """Load an exported graph, `.pb` or `.pbmm`, or a file for LiteRT, `.tflite`.

    A graph is computed with weights of a `precision`, `float32`, `int8` or `auto`; those of a `.tflite` file are what
    they are. Raise GraphError if it cannot be used, and ModelError for another precision, or if a `.tflite` file shall
    be computed in 8 bits.
    """
    chosen = Precision.named(precision)
    path = Path(path)
    if path.suffix != LITERT_SUFFIX and not _is_for_litert(path):
        model = read_frozen_model(path)
        return LoadedModel(model.info, Engine(model, chosen))
    if find_spec("ai_edge_litert") is None:
        raise GraphError(f"{path}: is run by ai-edge-litert, which is not installed; install deepspeech[litert]")
    from .litert.model import read_litert_model

    try:
        loaded = LoadedModel(*read_litert_model(path, memoryview(mapped_file(path))))
    except GraphError as error:
        raise GraphError(f"{path}: {error}; give one that Coqui STT, DeepSpeech 0.9 or this program exported") from None
    if precision == Precision.INT8.value:
        raise ModelError(f"{path}: its weights are what they are; leave out the precision, or export it with 8 bits")
    return loaded


def _is_for_litert(path: Path) -> bool:
    """Return whether a file has the identifier of LiteRT; if it cannot be read, what reads it says why."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(8)[4:] == LITERT_IDENTIFIER
    except (OSError, ValueError):
        return False
