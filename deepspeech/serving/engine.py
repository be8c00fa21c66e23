"""The acoustic model of an exported graph without TensorFlow: windows of features in, posteriors out.

Products that do not depend on the previous frame are computed for many frames at once, recurrent products frame by
frame for all utterances of a batch. Both run in C++, with weights that are arranged in blocks when the engine is made.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..errors import GraphError
from ..network.description import (
    LSTM,
    BidirectionalLSTM,
    ChunkedLSTM,
    Convolution,
    ConvolutionModule,
    Dense,
    FeedForward,
    Layer,
    LayerNormalization,
    Projection,
    SelfAttention,
)
from ..util.parallel import usable_cores
from .frozen.model import FrozenModel
from .layers.attention import ConvolutionModuleLayer, FeedForwardLayer, SelfAttentionLayer
from .layers.convolution import ConvolutionLayer
from .layers.layer import Array, Batch, EngineLayer, Weights
from .layers.lstm import LSTMLayer, TwoLSTMsLayer
from .layers.normalization import LayerNormalizationLayer
from .layers.plan import PlannedLayer, SoftmaxLayer, in_plans
from .layers.precision import Precision
from .layers.products import DenseLayer

LARGEST_CHUNK = 256
"""The number of frames that go through the network at once; their gates take n_hidden * 4 KiB."""

FRAMES_WORTH_THREADS = 64
"""Chunks of fewer frames are computed by the calling thread alone, which leaves the other cores to other streams."""

LARGEST_TURN = 128
"""The number of windows of one stream that are computed before others get their turn."""

LAYERS: Mapping[type[Layer], Callable[[Any, int, Weights, Precision], EngineLayer | PlannedLayer]] = {
    Dense: DenseLayer,
    Projection: DenseLayer,
    LSTM: LSTMLayer,
    BidirectionalLSTM: TwoLSTMsLayer,
    ChunkedLSTM: TwoLSTMsLayer,
    Convolution: ConvolutionLayer,
    LayerNormalization: LayerNormalizationLayer,
    FeedForward: FeedForwardLayer,
    SelfAttention: SelfAttentionLayer,
    ConvolutionModule: ConvolutionModuleLayer,
}
"""The class that computes each kind of record; it takes the record, its input width, weights and precision."""

State = tuple[Any, ...]
"""The state of a network: that of each of its layers, in their order."""


class Piece(NamedTuple):
    """Windows of features of one utterance, float32 [time, n_input], the state before them, and whether it ends."""

    windows: Array
    state: State
    last: bool


class AcousticEngine(ABC):
    """Computes the posteriors of utterances, several at a time. Threads may share one."""

    streams: bool
    """Whether an utterance can be run in pieces."""
    computes_little: bool = False
    """Whether decoding takes longer than the network does."""
    largest_turn: int | None
    """The windows of one stream that are computed before others get their turn; None for all."""

    def __reduce__(self) -> NoReturn:
        """Raise TypeError when a model or a stream is pickled, for example as an argument of another process."""
        raise TypeError("a model cannot be pickled; load one in each process")

    @abstractmethod
    def initial_state(self) -> State:
        """Return the state before the first frame."""

    @abstractmethod
    def run_batch(self, pieces: Sequence[Piece], cores_left: int = 0) -> Sequence[tuple[Array, State]]:
        """Return posteriors, float32 [rows, labels + 1], and the state after it for each piece of an utterance.

        `cores_left` cores, as long as there is one more, are left to other computations. The posteriors of an utterance
        are the same but for rounding, however it is cut into pieces and whatever is computed beside it. They are
        complete after the `last` piece. A network that does not stream gets each utterance as one piece, the last.
        """

    def run(self, windows: Array, state: State, *, last: bool = False) -> tuple[Array, State]:
        """Return the posteriors for windows of features of one utterance, and its state after them."""
        return self.run_batch([Piece(windows, state, last)])[0]

    def posteriors(self, windows: Array) -> Array:
        """Return the posteriors, float32 [rows, labels + 1], of the windows [time, n_input] of a whole utterance."""
        return self.run(windows, self.initial_state(), last=True)[0]


class Engine(AcousticEngine):
    """Runs a network. Threads may share an engine, as it holds nothing but weights."""

    def __init__(self, model: FrozenModel, precision: Precision = Precision.FLOAT32) -> None:
        """Take the model's weights, which are not needed after this."""
        network = model.info.network
        after_window = list(network.layers_with_inputs)[-len(network.layers_after_window) :]
        layers: list[EngineLayer | PlannedLayer] = []
        for number, (layer, inputs) in enumerate(after_window):
            inner = 0 < number < len(after_window) - 1  # features differ widely in size, and logits decide
            layers.append(_prepared(layer, inputs, model.weights, precision if inner else Precision.FLOAT32))
            model.release_memory()
        self._layers = list(in_plans([*layers, SoftmaxLayer(network.outputs)]))
        self.streams = network.streams
        self.computes_little = precision.is_fastest
        self.largest_turn = LARGEST_TURN if self.streams else None
        self._cores = usable_cores()

    def initial_state(self) -> State:
        """Return the state before the first frame."""
        return tuple(layer.initial_state() for layer in self._layers)

    def run_batch(self, pieces: Sequence[Piece], cores_left: int = 0) -> list[tuple[Array, State]]:
        """Return posteriors, float32 [rows, labels + 1], and the state after it for each piece of an utterance."""
        posteriors: list[list[Array]] = [[] for _ in pieces]
        states = [piece.state for piece in pieces]
        done = [0] * len(pieces)
        left = list(range(len(pieces)))
        while left:
            chunk = []
            for number in left:
                windows, _, last = pieces[number]
                start, end = done[number], self._end_of_chunk(done[number], len(windows), len(left))
                chunk.append(Piece(windows[start:end], states[number], last and end == len(windows)))
                done[number] = end
            for number, (rows, state) in zip(left, self._run_chunk(chunk, cores_left), strict=True):
                posteriors[number].append(rows)
                states[number] = state
            left = [number for number in left if done[number] < len(pieces[number].windows)]
        return [(np.concatenate(rows), state) for rows, state in zip(posteriors, states, strict=True)]

    def _end_of_chunk(self, start: int, length: int, utterances: int) -> int:
        """Return where an utterance's part of the next chunk ends; `utterances` share the chunk."""
        assert self.streams or not start
        return min(length, start + max(1, LARGEST_CHUNK // utterances)) if self.streams else length

    def _run_chunk(self, pieces: Sequence[Piece], cores_left: int) -> list[tuple[Array, State]]:
        lengths = sum(len(piece.windows) for piece in pieces)
        threads = max(1, self._cores - cores_left) if lengths >= FRAMES_WORTH_THREADS else 1
        assert self.streams or all(piece.last for piece in pieces)
        batch = Batch([piece.windows for piece in pieces], [piece.last for piece in pieces], threads)
        after = []
        for number, layer in enumerate(self._layers):
            batch, states = layer.run(batch, [piece.state[number] for piece in pieces])
            after.append(states)
        return list(zip(batch.utterances, zip(*after, strict=True), strict=True))


def _prepared(layer: Layer, inputs: int, weights: Weights, precision: Precision) -> EngineLayer | PlannedLayer:
    if type(layer) not in LAYERS:
        raise GraphError(f"its layer {layer.name} cannot be run: it is a {type(layer).__name__} after the first layer")
    return LAYERS[type(layer)](layer, inputs, weights, precision)
