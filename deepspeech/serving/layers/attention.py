"""The layers of a conformer block; `deepspeech.network.description.attention` gives their equations."""

from math import inf
from typing import NamedTuple

import numpy as np

from ...network.description import LONGEST_WAVE, ConvolutionModule, FeedForward, SelfAttention
from .layer import Array, FrameLayer, UtteranceLayer, Weights
from .normalization import normalized
from .precision import Precision
from .products import UNITS_WORTH_THREADS, product_of


class FeedForwardLayer(FrameLayer):
    """A feed-forward layer."""

    def __init__(self, layer: FeedForward, inputs: int, weights: Weights, precision: Precision) -> None:
        del inputs
        self._parts = _Parts(layer.name, weights, precision)

    def outputs(self, values: Array, threads: int) -> Array:
        """Return the outputs [rows, width] for values of that shape."""
        inner = self._parts.product("inner", self._parts.normalized("normalization", values), threads)
        return values + self._parts.product("outer", inner * _sigmoid(inner), threads) * np.float32(0.5)


class AttentionState(NamedTuple):
    """The rows of the chunk that is not complete, [rows, width], and what is seen of the rows before it.

    Keys and values are [heads, rows, width / heads], the keys rotated. None is changed in place.
    """

    waiting: Array
    keys: Array
    values: Array
    position: int
    """The rows before those that wait."""


class SelfAttentionLayer(UtteranceLayer):
    """Attention, chunk by chunk or over a whole utterance."""

    def __init__(self, layer: SelfAttention, inputs: int, weights: Weights, precision: Precision) -> None:
        self._layer = layer
        self._width = inputs
        self._size = inputs // layer.heads
        self._parts = _Parts(layer.name, weights, precision)
        self._waves = LONGEST_WAVE ** (-2 * np.arange(self._size // 2) / self._size)

    def initial_state(self) -> AttentionState:
        """Return the state before the first row."""
        seen = np.zeros((self._layer.heads, 0, self._size), np.float32)
        return AttentionState(np.zeros((0, self._width), np.float32), seen, seen, 0)

    def run_utterance(
        self, values: Array, state: AttentionState, threads: int, *, last: bool
    ) -> tuple[Array, AttentionState]:
        """Return the outputs [rows, width] of the chunks that are complete, all if these are the last rows."""
        waiting = np.concatenate([state.waiting, values])
        chunk = self._layer.chunk or max(len(waiting), 1)
        complete = len(waiting) if last else len(waiting) // chunk * chunk
        rows = waiting[:complete]
        queries, keys, of_rows = self._heads(rows, state.position, threads)
        keys = np.concatenate([state.keys, keys], axis=1)
        of_rows = np.concatenate([state.values, of_rows], axis=1)
        before = state.keys.shape[1]
        attended = np.empty_like(rows)
        for start in range(0, complete, chunk):
            part = slice(start, min(start + chunk, complete))
            seen = slice(max(0, before + start - self._layer.left) if self._layer.chunk else 0, before + part.stop)
            attended[part] = self._attend(queries[:, part], keys[:, seen], of_rows[:, seen])
        outputs = rows + self._parts.product("outer", attended, threads)
        kept = slice(max(0, keys.shape[1] - self._layer.left), None)
        return outputs, AttentionState(waiting[complete:], keys[:, kept], of_rows[:, kept], state.position + complete)

    def _heads(self, rows: Array, position: int, threads: int) -> tuple[Array, Array, Array]:
        """Return queries, keys and values, [heads, rows, size] each, of rows that begin at a position."""
        product = self._parts.product("inner", self._parts.normalized("normalization", rows), threads)
        heads = product.reshape(len(rows), 3, self._layer.heads, self._size).transpose(1, 2, 0, 3)
        angles = np.arange(position, position + len(rows))[:, None] * self._waves  # float64, as positions grow large
        turns = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        return _rotated(heads[0], *turns), _rotated(heads[1], *turns), heads[2]

    def _attend(self, queries: Array, keys: Array, values: Array) -> Array:
        """Return the heads' means of values, side by side: [rows, width]."""
        scores = queries @ keys.transpose(0, 2, 1) * np.float32(self._size**-0.5)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        means: Array = (shares @ values).transpose(1, 0, 2).reshape(-1, self._width)
        return means


class ConvolutionState(NamedTuple):
    """The rows whose outputs wait for later ones, [rows, width], and the gated rows that outputs depend on."""

    waiting: Array
    gated: Array


class ConvolutionModuleLayer(UtteranceLayer):
    """A convolution module."""

    def __init__(self, layer: ConvolutionModule, inputs: int, weights: Weights, precision: Precision) -> None:
        self._layer = layer
        self._width = inputs
        self._parts = _Parts(layer.name, weights, precision)
        self._kernel = weights[f"{layer.name}/depthwise/kernel"].copy()
        self._bias = weights[f"{layer.name}/depthwise/bias"].copy()

    def initial_state(self) -> ConvolutionState:
        """Return the zeros before the first row."""
        before = np.zeros((self._layer.before, self._width), np.float32)
        return ConvolutionState(before[:0], before)

    def run_utterance(
        self, values: Array, state: ConvolutionState, threads: int, *, last: bool
    ) -> tuple[Array, ConvolutionState]:
        """Return the outputs [rows, width] that need no more rows."""
        product = self._parts.product("inner", self._parts.normalized("normalization", values), threads)
        linear, gates = product[:, : self._width], product[:, self._width :]
        after = np.zeros((self._layer.after if last else 0, self._width), np.float32)
        gated = np.concatenate([state.gated, linear * _sigmoid(gates), after])
        waiting = np.concatenate([state.waiting, values])
        rows = max(0, len(gated) - self._layer.kernel + 1)
        convolved = np.broadcast_to(self._bias, (rows, self._width)).copy()
        for offset, factor in enumerate(self._kernel):
            convolved += gated[offset : offset + rows] * factor
        inner = self._parts.normalized("second_normalization", convolved)
        outputs = waiting[:rows] + self._parts.product("outer", inner * _sigmoid(inner), threads)
        return outputs, ConvolutionState(waiting[rows:], gated[rows:])


class _Parts:
    """The products and normalizations that a layer is made of, by their names."""

    def __init__(self, layer: str, weights: Weights, precision: Precision) -> None:
        self._products, self._units = {}, {}
        for name in ("inner", "outer"):
            if f"{layer}/{name}/weights" in weights:
                bias = weights[f"{layer}/{name}/bias"]
                self._products[name] = product_of(weights[f"{layer}/{name}/weights"], bias, precision)
                self._units[name] = len(bias)
        self._normalizations = {
            name: tuple(weights[f"{layer}/{name}/{each}"].copy() for each in ("scale", "offset"))
            for name in ("normalization", "second_normalization")
            if f"{layer}/{name}/scale" in weights
        }

    def product(self, name: str, values: Array, threads: int) -> Array:
        """Return values [rows, n] times the weights of this name, plus their bias."""
        units = self._units[name]
        shared_out = threads if units > UNITS_WORTH_THREADS else 1
        return self._products[name].run(values, -inf, inf, shared_out)[:, :units]

    def normalized(self, name: str, values: Array) -> Array:
        """Return values [rows, n] after the layer normalization of this name."""
        scale, offset = self._normalizations[name]
        return normalized(values, scale, offset)


def _rotated(values: Array, cosines: Array, sines: Array) -> Array:
    """Rotate the pairs of numbers of values [heads, rows, size]."""
    first, second = np.split(values, 2, axis=2)
    return np.concatenate([first * cosines - second * sines, second * cosines + first * sines], axis=2)


def _sigmoid(values: Array) -> Array:
    return np.float32(1) / (np.float32(1) + np.exp(-np.maximum(values, np.float32(-80))))
