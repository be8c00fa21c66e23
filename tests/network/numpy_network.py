"""The computation of each kind of record in plain NumPy and double precision: a reference for training and serving."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from deepspeech.network import (
    LSTM,
    BidirectionalLSTM,
    ChunkedLSTM,
    ContextWindow,
    Convolution,
    ConvolutionModule,
    Dense,
    FeedForward,
    IntermediateCTC,
    Layer,
    LayerNormalization,
    Network,
    Projection,
    SelfAttention,
)
from deepspeech.network.description import LONGEST_WAVE, NORMALIZATION_EPSILON

Array = npt.NDArray[Any]
Weights = Mapping[str, Array]


def random_weights(network: Network, seed: int = 3) -> dict[str, npt.NDArray[np.float32]]:
    """Return weights for the variables of a network."""
    random = np.random.default_rng(seed)
    return {name: random.normal(0, 0.4, shape).astype(np.float32) for name, shape in network.shapes.items()}


def posteriors(network: Network, weights: Weights, features: Array) -> Array:
    """Return the posteriors [rows, labels + 1] of one utterance's features [frames, coefficients]."""
    values: Array = features.astype(np.float64)
    for layer in network.layers:
        values = outputs(layer, values, weights)
    exponentials = np.exp(values - values.max(axis=1, keepdims=True))
    shares: Array = exponentials / exponentials.sum(axis=1, keepdims=True)
    return shares


@singledispatch
def outputs(layer: Layer, values: Array, weights: Weights) -> Array:
    """Return the outputs [rows, width] of a layer for the inputs [frames, n] of one utterance."""
    raise NotImplementedError(type(layer).__name__)


@outputs.register
def _window(layer: ContextWindow, values: Array, _weights: Weights) -> Array:
    padded = np.pad(values, [(layer.frames, layer.frames), (0, 0)])
    return np.stack([padded[t : t + 2 * layer.frames + 1].ravel() for t in range(len(values))])


@outputs.register
def _dense(layer: Dense, values: Array, weights: Weights) -> Array:
    linear = values @ weights[f"{layer.name}/weights"] + weights[f"{layer.name}/bias"]
    return linear if layer.clip is None else linear.clip(0, layer.clip)


@outputs.register
def _projection(layer: Projection, values: Array, weights: Weights) -> Array:
    return values @ weights[f"{layer.name}/weights"] + weights[f"{layer.name}/bias"]


@outputs.register
def _lstm(layer: LSTM, values: Array, weights: Weights) -> Array:
    c: Array = np.zeros(layer.units)
    h: Array = np.zeros(layer.units)
    hidden = []
    for x in values:
        gates = np.concatenate([x, h]) @ weights[f"{layer.name}/kernel"] + weights[f"{layer.name}/bias"]
        i, g, f, o = np.split(gates, 4)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
        hidden.append(h)
    return np.stack(hidden)


@outputs.register
def _bidirectional_lstm(layer: BidirectionalLSTM, values: Array, weights: Weights) -> Array:
    forward, backward = layer.directions
    return np.concatenate([_lstm(forward, values, weights), _lstm(backward, values[::-1], weights)[::-1]], axis=1)


@outputs.register
def _chunked_lstm(layer: ChunkedLSTM, values: Array, weights: Weights) -> Array:
    forward, backward = layer.directions
    chunks = np.split(values, range(layer.chunk - layer.offset, len(values), layer.chunk))
    second = np.concatenate([_lstm(backward, chunk[::-1], weights)[::-1] for chunk in chunks])
    return np.concatenate([_lstm(forward, values, weights), second], axis=1)


@outputs.register
def _normalization(layer: LayerNormalization, values: Array, weights: Weights) -> Array:
    return _normalized(layer.name, values, weights)


@outputs.register
def _convolution(layer: Convolution, values: Array, weights: Weights) -> Array:
    frames = values.reshape(len(values), -1, layer.input_channels)
    time, frequencies = len(frames), frames.shape[1]
    rows, columns = -(-time // layer.time_stride), -(-frequencies // layer.frequency_stride)
    made = np.zeros((rows, columns, layer.channels))
    for row in range(rows):
        for column in range(columns):
            for i in range(layer.time):
                for j in range(layer.frequency):
                    t = row * layer.time_stride - (layer.time - 1) // 2 + i
                    f = column * layer.frequency_stride - (layer.frequency - 1) // 2 + j
                    if 0 <= t < time and 0 <= f < frequencies:
                        made[row, column] += frames[t, f] @ weights[f"{layer.name}/kernel"][i, j]
    made += weights[f"{layer.name}/bias"]
    return (made if layer.clip is None else made.clip(0, layer.clip)).reshape(rows, -1)


@outputs.register
def _intermediate(_layer: IntermediateCTC, values: Array, _weights: Weights) -> Array:
    return values


@outputs.register
def _feed_forward(layer: FeedForward, values: Array, weights: Weights) -> Array:
    inner = _product(f"{layer.name}/inner", _normalized(f"{layer.name}/normalization", values, weights), weights)
    return values + _product(f"{layer.name}/outer", inner * _sigmoid(inner), weights) / 2


@outputs.register
def _self_attention(layer: SelfAttention, values: Array, weights: Weights) -> Array:
    product = _product(f"{layer.name}/inner", _normalized(f"{layer.name}/normalization", values, weights), weights)
    queries, keys, heads_values = (np.split(part, layer.heads, axis=1) for part in np.split(product, 3, axis=1))
    attended = np.zeros_like(values)
    size = values.shape[1] // layer.heads
    for head, (q, k, v) in enumerate(zip(queries, keys, heads_values, strict=True)):
        for t in range(len(values)):
            begin = t // layer.chunk * layer.chunk if layer.chunk else 0
            seen = range(
                max(0, begin - layer.left), min(len(values), begin + layer.chunk if layer.chunk else len(values))
            )
            # the pairs as complex numbers, which a rotation multiplies
            scores = np.array([(_rotated(q[t], t) * _rotated(k[s], s).conj()).real.sum() for s in seen]) / size**0.5
            shares = np.exp(scores - scores.max())
            attended[t, head * size : (head + 1) * size] = shares / shares.sum() @ v[seen.start : seen.stop]
    return values + _product(f"{layer.name}/outer", attended, weights)


@outputs.register
def _convolution_module(layer: ConvolutionModule, values: Array, weights: Weights) -> Array:
    product = _product(f"{layer.name}/inner", _normalized(f"{layer.name}/normalization", values, weights), weights)
    linear, gates = np.split(product, 2, axis=1)
    padded = np.pad(linear * _sigmoid(gates), [(layer.before, layer.after), (0, 0)])
    kernel, bias = weights[f"{layer.name}/depthwise/kernel"], weights[f"{layer.name}/depthwise/bias"]
    convolved = np.stack([(padded[t : t + len(kernel)] * kernel).sum(axis=0) + bias for t in range(len(values))])
    inner = _normalized(f"{layer.name}/second_normalization", convolved, weights)
    return values + _product(f"{layer.name}/outer", inner * _sigmoid(inner), weights)


def _rotated(values: Array, position: int) -> Array:
    first, second = np.split(values, 2)
    angles = position * LONGEST_WAVE ** (-np.arange(len(first)) / len(first))
    turned: Array = (first + 1j * second) * np.exp(1j * angles)
    return turned


def _product(name: str, values: Array, weights: Weights) -> Array:
    products: Array = values @ weights[f"{name}/weights"] + weights[f"{name}/bias"]
    return products


def _normalized(name: str, values: Array, weights: Weights) -> Array:
    centred = values - values.mean(axis=1, keepdims=True)
    standard = centred / np.sqrt(values.var(axis=1, keepdims=True) + NORMALIZATION_EPSILON)
    scaled: Array = standard * weights[f"{name}/scale"] + weights[f"{name}/offset"]
    return scaled


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))
