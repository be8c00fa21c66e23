"""Loading an acoustic model: from an exported graph, or from a model in ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from ..engine import Engine, Piece, State
from ..feature_windows import ModelFeatures
from ..frozen.model import ModelInfo, read_frozen_model
from ..layers.layer import Array
from ..layers.precision import Precision

ONNX_SUFFIX = ".onnx"


class AcousticEngine(Protocol):
    """Computes posteriors. Threads may share one."""

    streams: bool
    """Whether an utterance can be run in pieces."""
    computes_little: bool
    """Whether decoding takes longer than the network does."""
    largest_turn: int | None
    """The windows of one stream that are computed before others get their turn; None for all."""

    def initial_state(self) -> State:
        """Return the state before the first window."""

    def posteriors(self, windows: Array) -> Array:
        """Return the posteriors, float32 [rows, labels + 1], of the windows of a whole utterance."""

    def run_batch(self, pieces: Sequence[Piece], cores_left: int = 0) -> list[tuple[Array, State]]:
        """Return posteriors and the state after it for each piece of an utterance, as `Engine.run_batch`."""


class Windows(Protocol):
    """One signal that comes in pieces."""

    def feed(self, samples: Array) -> Array:
        """Take float32 [samples] in [-1, 1]; return the windows that are complete now, float32 [time, n_input]."""

    def finish(self) -> Array:
        """Return the windows that are left, float32 [time, n_input]."""


class AcousticFeatures(Protocol):
    """What an engine takes of signals."""

    def windows(self) -> Windows:
        """Begin a signal."""


class AcousticModel(NamedTuple):
    """A model that is loaded: its metadata, what computes posteriors, and what that takes of signals."""

    info: ModelInfo
    engine: AcousticEngine
    features: AcousticFeatures


def load_acoustic_model(path: Path, precision: str) -> AcousticModel:
    """Load a `.pb` or `.pbmm` graph, or a `.onnx` model.

    Raise GraphError if it cannot be used, FeatureError if its features can't, and ModelError for another precision.
    """
    chosen = Precision.named(precision)
    if path.suffix.lower() == ONNX_SUFFIX:
        from .onnx_model import load_onnx_model  # which takes onnxruntime

        return load_onnx_model(path, precision)
    model = read_frozen_model(path)
    return AcousticModel(model.info, Engine(model, chosen), ModelFeatures(model.info))
