"""The acoustic model of an exported graph without TensorFlow: windows of features in, posteriors out.

The products that do not depend on the frame before are computed for many frames at once, the recurrent ones frame by
frame, both in C++, with weights that are put into blocks when the engine is made.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import GraphError
from ..network.description import (
    LSTM,
    BidirectionalLSTM,
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
from .layers.layer import Array, EngineLayer, Run, Weights
from .layers.lstm import BidirectionalLSTMLayer, LSTMLayer
from .layers.normalization import LayerNormalizationLayer
from .layers.products import DenseLayer

LARGEST_CHUNK = 512
"""The number of frames that go through the network at once; their gates take n_hidden * 8 KiB."""

FRAMES_WORTH_THREADS = 64
"""Chunks of fewer frames are computed by the calling thread alone, so that streams do not slow each other down."""

LAYERS: Mapping[type[Layer], Callable[[Any, int, Weights], EngineLayer]] = {
    Dense: DenseLayer,
    Projection: DenseLayer,
    LSTM: LSTMLayer,
    BidirectionalLSTM: BidirectionalLSTMLayer,
    Convolution: ConvolutionLayer,
    LayerNormalization: LayerNormalizationLayer,
    FeedForward: FeedForwardLayer,
    SelfAttention: SelfAttentionLayer,
    ConvolutionModule: ConvolutionModuleLayer,
}
"""How each kind of record is computed: a class that takes it, the width of its inputs, and the weights."""

State = tuple[Any, ...]
"""The state of a network: that of each of its layers, in their order."""


class Engine:
    """Runs a network. Threads may share an engine, as it holds nothing but weights."""

    def __init__(self, model: FrozenModel) -> None:
        network = model.info.network
        after_window = list(network.layers_with_inputs)[-len(network.layers_after_window) :]
        self._layers = [_prepared(layer, inputs, model.weights) for layer, inputs in after_window]
        self._outputs = network.outputs
        self._streams = network.streams
        self._cores = usable_cores()

    def initial_state(self) -> State:
        """Return the state before the first frame."""
        return tuple(layer.initial_state() for layer in self._layers)

    def posteriors(self, windows: Array) -> Array:
        """Return the posteriors, float32 [rows, labels + 1], of the windows [time, n_input] of a whole utterance."""
        return self.run(windows, self.initial_state(), last=True)[0]

    def run(self, windows: Array, state: State, *, last: bool = False) -> tuple[Array, State]:
        """Return posteriors for windows of features, and the state after them.

        Posteriors are float32 [rows, labels + 1], windows float32 [time, n_input]. However an utterance is cut into
        runs, its posteriors are the same but for rounding. They are complete once a run was the `last`, which a network
        that does not stream gets as its only one.
        """
        assert self._streams or last
        largest = LARGEST_CHUNK if self._streams else max(len(windows), 1)
        posteriors = []
        for start in range(0, max(len(windows), 1), largest):
            chunk = windows[start : start + largest]
            rows, state = self._run_chunk(chunk, state, last=last and start + largest >= len(windows))
            posteriors.append(rows)
        return np.concatenate(posteriors), state

    def _run_chunk(self, windows: Array, state: State, *, last: bool) -> tuple[Array, State]:
        how = Run(self._cores if len(windows) >= FRAMES_WORTH_THREADS else 1, last)
        values, after = windows, []
        for layer, before in zip(self._layers, state, strict=True):
            values, new_state = layer.run(values, before, how)
            after.append(new_state)
        return _softmax(values), tuple(after)


def _prepared(layer: Layer, inputs: int, weights: Weights) -> EngineLayer:
    if type(layer) not in LAYERS:
        raise GraphError(f"its layer {layer.name} cannot be run: it is a {type(layer).__name__} after the first layer")
    return LAYERS[type(layer)](layer, inputs, weights)


def _softmax(logits: Array) -> Array:
    exponentials: Array = np.exp(logits - logits.max(axis=-1, keepdims=True))
    exponentials /= exponentials.sum(axis=-1, keepdims=True)
    return exponentials
