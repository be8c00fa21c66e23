"""Convolutions over time and frequency."""

from math import inf

import numpy as np

from ...network.description import Convolution
from .layer import Array, UtteranceLayer, Weights
from .precision import Precision
from .products import product_of


class ConvolutionLayer(UtteranceLayer):
    """A convolution, as a product with the patch of frames and frequencies that each output depends on.

    The state is the frames that later outputs depend on, float32 [frames, inputs]: `before` zeros at the beginning.
    """

    def __init__(self, layer: Convolution, inputs: int, weights: Weights, precision: Precision) -> None:
        self._layer = layer
        self._inputs = inputs
        self._frequencies = layer.frequencies(inputs)
        kernel = weights[f"{layer.name}/kernel"]
        self._product = product_of(kernel.reshape(-1, layer.channels), weights[f"{layer.name}/bias"], precision)
        self._low, self._high = (-inf, inf) if layer.clip is None else (0.0, layer.clip)

    def initial_state(self) -> Array:
        """Return the zeros before the first frame."""
        return np.zeros((self._layer.before, self._inputs), np.float32)

    def run_utterance(self, values: Array, state: Array, threads: int, *, last: bool) -> tuple[Array, Array]:
        """Return the outputs [rows, frequencies * channels] that need no more frames, and the frames to keep."""
        del threads
        layer = self._layer
        frames = np.concatenate([state, values])
        if last:
            rows = -(-max(0, len(frames) - layer.before) // layer.time_stride)
            missing = (rows - 1) * layer.time_stride + layer.time - len(frames)
            frames = np.pad(frames, [(0, max(0, missing)), (0, 0)])
        else:
            rows = max(0, (len(frames) - layer.time) // layer.time_stride + 1)
        patches = self._patches(frames, rows)
        outputs = self._product.run(patches, self._low, self._high, 1)[:, : layer.channels]
        return outputs.reshape(rows, self._frequencies * layer.channels), frames[rows * layer.time_stride :]

    def _patches(self, frames: Array, rows: int) -> Array:
        """Return what each output depends on, float32 [rows * frequencies, time * frequency * input channels]."""
        layer = self._layer
        size = layer.time * layer.frequency * layer.input_channels
        if not rows:
            return np.zeros((0, size), np.float32)
        values = frames.reshape(len(frames), -1, layer.input_channels)
        needed = (self._frequencies - 1) * layer.frequency_stride + layer.frequency
        above = max(0, needed - values.shape[1] - layer.lower)
        padded = np.pad(values, [(0, 0), (layer.lower, above), (0, 0)])
        windows = np.lib.stride_tricks.sliding_window_view(padded, (layer.time, layer.frequency), axis=(0, 1))
        chosen = windows[:: layer.time_stride, :: layer.frequency_stride][:rows, : self._frequencies]
        return np.ascontiguousarray(chosen.transpose(0, 1, 3, 4, 2)).reshape(-1, size)
