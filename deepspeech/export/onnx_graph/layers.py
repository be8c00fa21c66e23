"""The computation of layers with ONNX operators; their equations are in `deepspeech.network.description`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np
from onnx import TensorProto

from ...network.description import (
    LSTM,
    NORMALIZATION_EPSILON,
    BidirectionalLSTM,
    ChunkedLSTM,
    ContextWindow,
    Convolution,
    Dense,
    IntermediateCTC,
    Layer,
    LayerNormalization,
    Projection,
)
from .graph import LAST, Graph, Rows
from .states import CELL, HIDDEN

_OUR_GATES = ("input", "candidate", "forget", "output")
_ONNX_GATES = ("input", "output", "forget", "candidate")
_ORDER = [_OUR_GATES.index(gate) for gate in _ONNX_GATES]


@singledispatch
def computed(layer: Layer, rows: Rows, graph: Graph) -> Rows:
    """Add a layer to a graph, and return its outputs."""
    del rows, graph
    raise AssertionError(f"{layer} is not in the format, but check_frozen lets it through")


@computed.register
def _intermediate(layer: IntermediateCTC, rows: Rows, graph: Graph) -> Rows:
    del layer, graph
    return rows


@computed.register(Dense)
@computed.register(Projection)
def _dense(layer: Dense | Projection, rows: Rows, graph: Graph) -> Rows:
    values = product(layer.name, rows.values, graph)
    clip = layer.clip if isinstance(layer, Dense) else None
    return Rows(_clipped(values, clip, graph), layer.units, rows.lengths, rows.advance)


@computed.register
def _layer_normalization(layer: LayerNormalization, rows: Rows, graph: Graph) -> Rows:
    return Rows(normalized(layer.name, rows.values, graph), rows.width, rows.lengths, rows.advance)


@computed.register
def _lstm(layer: LSTM, rows: Rows, graph: Graph) -> Rows:
    """Add an LSTM, whose outputs are zero beyond each utterance's length."""
    weights = _lstm_weights((layer,), graph)
    if not graph.states:
        outputs, *_ = _lstm_outputs(layer, rows.values, weights, rows.lengths, [], graph)
        return Rows(outputs, layer.units, rows.lengths, rows.advance)
    previous = [graph.states.previous(f"{layer.name}/{part}", (layer.units,)) for part in (CELL, HIDDEN)]
    states = [graph.add("Unsqueeze", [each], axes=[0]) for each in reversed(previous)]
    first, *rest = _parts_of_run(rows, graph)
    outputs, *states = _lstm_outputs(layer, first.values, weights, first.lengths, states, graph)
    for name, state in zip(previous, reversed(states), strict=True):
        graph.states.add_new(name, graph.add("Squeeze", [state], axes=[0]))
    for part in rest:
        more, *_ = _lstm_outputs(layer, part.values, weights, part.lengths, states, graph)
        outputs = graph.add("Concat", [outputs, more], axis=0)
    return Rows(outputs, layer.units, rows.lengths, rows.advance)


def _lstm_outputs(
    layer: LSTM, values: str, weights: Sequence[str], lengths: str, states: Sequence[str], graph: Graph
) -> list[str]:
    """Add an LSTM; return its outputs [rows, batch, units], and its last hidden and cell states [1, batch, units]."""
    inputs = [values, *weights, lengths, *states]
    outputs, hidden, cell = graph.add_several("LSTM", inputs, 3, hidden_size=layer.units)
    return [graph.add("Squeeze", [outputs], axes=[1]), hidden, cell]


def _parts_of_run(rows: Rows, graph: Graph) -> list[Rows]:
    """Return the rows by which a run advances, and, if there are any, those after them, which the next run repeats."""
    if not rows.overlap:
        return [rows]
    zero, lengths = graph.integers(0), graph.whole(rows.lengths)
    ends = [(zero, rows.advance), (rows.advance, graph.size(rows.values, 0))]
    parts = []
    for start, end in ends:
        inside = graph.add("Sub", [graph.minimum(graph.maximum(lengths, start), end), start])
        own_lengths = graph.add("Cast", [inside], to=TensorProto.INT32)
        parts.append(Rows(graph.part(rows.values, start, end), rows.width, own_lengths, rows.advance))
    return parts


@computed.register
def _bidirectional_lstm(layer: BidirectionalLSTM, rows: Rows, graph: Graph) -> Rows:
    inputs = [rows.values, *_lstm_weights(layer.directions, graph), rows.lengths]
    outputs, *_ = graph.add_several("LSTM", inputs, 3, hidden_size=layer.units, direction="bidirectional")
    by_row = graph.add("Transpose", [outputs], perm=[0, 2, 1, 3])
    width = 2 * layer.units
    return Rows(graph.add("Reshape", [by_row, graph.integers(0, 0, width)]), width, rows.lengths, rows.advance)


@computed.register
def _chunked_lstm(layer: ChunkedLSTM, rows: Rows, graph: Graph) -> Rows:
    """Add two LSTMs; the second one treats each chunk as an utterance."""
    forward, backward = layer.directions
    chunk, zero, time = graph.integers(layer.chunk), graph.integers(0), graph.size(rows.values, 0)
    before = graph.integers(layer.offset)  # rows of zeros, the last ones for the second LSTM, fill the first chunk
    end = graph.add("Add", [before, time])
    missing = graph.add("Mod", [graph.add("Sub", [zero, end]), chunk])
    padding = graph.add("Concat", [graph.integers(layer.offset, 0, 0), missing, graph.integers(0, 0)], axis=0)
    filled = graph.add("Pad", [rows.values, padding])
    count = graph.add("Div", [graph.size(filled, 0), chunk])
    chunks = _exchanged(filled, (count, chunk), rows.width, graph)
    sequences = graph.add("Reshape", [chunks, graph.integers(layer.chunk, -1, rows.width)])
    lengths = _lengths_of_chunks(layer, count, rows, graph)
    inputs = [sequences, *_lstm_weights((backward,), graph), lengths]
    hidden, *_ = graph.add_several("LSTM", inputs, 3, hidden_size=layer.units, direction="reverse")
    by_row = _exchanged(graph.add("Squeeze", [hidden], axes=[1]), (chunk, count), layer.units, graph)
    shape = graph.add("Concat", [graph.size(filled, 0), graph.integers(-1, layer.units)], axis=0)
    second = graph.part(graph.add("Reshape", [by_row, shape]), before, end)
    both = graph.add("Concat", [_lstm(forward, rows, graph).values, second], axis=2)
    return Rows(both, 2 * layer.units, rows.lengths, rows.advance)


def _lengths_of_chunks(layer: ChunkedLSTM, count: str, rows: Rows, graph: Graph) -> str:
    """Return the number of rows of utterances in each of `count`, int64 [1], chunks, int32 [chunks * batch]."""
    zero, chunk = graph.integers(0), graph.integers(layer.chunk)
    begins = graph.add("Unsqueeze", [graph.add("Mul", [graph.range(zero, count), chunk])], axes=[1])
    ends = graph.add("Add", [graph.whole(rows.lengths), graph.integers(layer.offset)])
    left = graph.add("Sub", [ends, begins])
    inside = graph.minimum(graph.maximum(left, zero), chunk)
    return graph.add("Cast", [graph.add("Reshape", [inside, graph.integers(-1)])], to=TensorProto.INT32)


def _exchanged(values: str, sizes: tuple[str, str], width: int, graph: Graph) -> str:
    """Return values [..., width] of rows [a, b, batch] as [b, a, batch, width]; `sizes` are a and b, int64 [1]."""
    shape = graph.add("Concat", [*sizes, graph.integers(-1, width)], axis=0)
    return graph.add("Transpose", [graph.add("Reshape", [values, shape])], perm=[1, 0, 2, 3])


@computed.register
def _context_window(layer: ContextWindow, rows: Rows, graph: Graph) -> Rows:
    count = layer.frames
    if not count:
        return rows
    values = with_rows_before(layer.name, count, rows, graph, after=count)
    ends = [place - 2 * count or LAST for place in range(2 * count + 1)]
    parts = [graph.part(values, graph.integers(start), graph.integers(end)) for start, end in enumerate(ends)]
    return graph.rows_of(graph.add("Concat", parts, axis=2), layer.width(rows.width), rows)


@computed.register
def _convolution(layer: Convolution, rows: Rows, graph: Graph) -> Rows:
    frequencies, channels = layer.frequencies(rows.width), layer.channels
    frames = with_rows_before(layer.name, layer.before, rows, graph, after=layer.look_ahead)
    shape = graph.integers(0, 0, layer.input_frequencies(rows.width), layer.input_channels)
    planes = graph.add("Transpose", [graph.add("Reshape", [frames, shape])], perm=[1, 3, 0, 2])
    needed = (frequencies - 1) * layer.frequency_stride + layer.frequency
    above = max(0, needed - layer.input_frequencies(rows.width) - layer.lower)
    kernel, bias = (graph.weights[f"{layer.name}/{name}"] for name in ("kernel", "bias"))
    convolved = graph.add(
        "Conv",
        [
            planes,
            graph.constant(f"{layer.name}/kernel", kernel.transpose(3, 2, 0, 1)),
            graph.constant(f"{layer.name}/bias", bias),
        ],
        kernel_shape=[layer.time, layer.frequency],
        strides=[layer.time_stride, layer.frequency_stride],
        pads=[0, layer.lower, 0, above],
    )
    by_row = graph.add("Transpose", [_clipped(convolved, layer.clip, graph)], perm=[2, 0, 3, 1])
    width = frequencies * channels
    values = graph.add("Reshape", [by_row, graph.integers(0, 0, width)])
    return graph.rows_of(values, width, rows, layer.time_stride)


def with_rows_before(layer: str, count: int, rows: Rows, graph: Graph, *, after: int) -> str:
    """Return rows, zeros after their utterance's end, with `count` rows before them: zeros, or those of the last run.

    In a graph of whole recordings, `after` rows of zeros follow them.
    """
    values = graph.masked(rows)
    if not graph.states:
        return graph.add("Pad", [values, graph.integers(count, 0, 0, after, 0, 0)])
    if not count:
        return values
    return graph.after_those_before(layer, values, count, rows.width, rows.advance)


def product(layer: str, values: str, graph: Graph) -> str:
    """Return values [rows, batch, n] times the weights of a layer, or of a part of it, plus the bias."""
    weights, bias = (graph.constant(name, graph.weights[name]) for name in (f"{layer}/weights", f"{layer}/bias"))
    return graph.add("Add", [graph.add("MatMul", [values, weights]), bias])


def normalized(layer: str, values: str, graph: Graph) -> str:
    """Return values [..., n] after the layer normalization of this name."""
    scale, offset = (graph.constant(name, graph.weights[name]) for name in (f"{layer}/scale", f"{layer}/offset"))
    mean = graph.add("ReduceMean", [values], axes=[2], keepdims=1)
    centred = graph.add("Sub", [values, mean])
    squares = graph.add("Pow", [centred, graph.number(2.0)])
    variance = graph.add("ReduceMean", [squares], axes=[2], keepdims=1)
    deviation = graph.add("Sqrt", [graph.add("Add", [variance, graph.number(NORMALIZATION_EPSILON)])])
    scaled = graph.add("Mul", [graph.add("Div", [centred, deviation]), scale])
    return graph.add("Add", [scaled, offset])


def _clipped(values: str, clip: float | None, graph: Graph) -> str:
    return values if clip is None else graph.add("Clip", [values, graph.number(0.0), graph.number(clip)])


def _lstm_weights(directions: tuple[LSTM, ...], graph: Graph) -> list[str]:
    """Return the names of the weights of LSTMs over the same inputs, in the order of an ONNX LSTM's inputs."""
    parts: dict[str, list[np.ndarray]] = {"W": [], "R": [], "B": []}
    for layer in directions:
        units = layer.units
        kernel = graph.weights[f"{layer.name}/kernel"].reshape(-1, 4, units)[:, _ORDER].reshape(-1, 4 * units)
        bias = graph.weights[f"{layer.name}/bias"].reshape(4, units)[_ORDER].reshape(-1)
        parts["W"].append(kernel[:-units].T)
        parts["R"].append(kernel[-units:].T)
        parts["B"].append(np.concatenate([bias, np.zeros_like(bias)]))
    return [graph.constant(f"{directions[0].name}/{name}", np.stack(each)) for name, each in parts.items()]
