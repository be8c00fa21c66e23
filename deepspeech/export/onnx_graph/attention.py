"""The layers of a conformer block in ONNX operators; their equations: `deepspeech.network.description.attention`."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from ...network.description import LONGEST_WAVE, ConvolutionModule, FeedForward, SelfAttention
from .graph import Graph, Rows
from .layers import computed, normalized, product, with_rows_before

UNSEEN = -1e9
"""The score of a row that is not seen; its share is 0 after the softmax."""


@computed.register
def _feed_forward(layer: FeedForward, rows: Rows, graph: Graph) -> Rows:
    inner = product(f"{layer.name}/inner", normalized(layer.normalization, rows.values, graph), graph)
    outer = product(f"{layer.name}/outer", _swish(inner, graph), graph)
    half = graph.add("Mul", [outer, graph.number(0.5)])
    return Rows(graph.add("Add", [rows.values, half]), rows.width, rows.lengths, rows.advance)


@computed.register
def _convolution_module(layer: ConvolutionModule, rows: Rows, graph: Graph) -> Rows:
    name, width = layer.name, rows.width
    both = product(f"{name}/inner", normalized(layer.normalization, rows.values, graph), graph)
    linear, gates = graph.add_several("Split", [both], 2, axis=2, split=[width, width])
    gated = graph.add("Mul", [linear, graph.add("Sigmoid", [gates])])
    around = with_rows_before(
        name, layer.before, Rows(gated, width, rows.lengths, rows.advance), graph, after=layer.after
    )
    kernel = graph.weights[f"{name}/depthwise/kernel"].T[:, None]
    convolved = graph.add(
        "Conv",
        [
            graph.add("Transpose", [around], perm=[1, 2, 0]),
            graph.constant(f"{name}/depthwise/kernel", kernel),
            graph.constant(f"{name}/depthwise/bias", graph.weights[f"{name}/depthwise/bias"]),
        ],
        kernel_shape=[layer.kernel],
        group=width,
    )
    by_row = graph.add("Transpose", [convolved], perm=[2, 0, 1])
    inner = normalized(f"{name}/second_normalization", by_row, graph)
    outer = product(f"{name}/outer", _swish(inner, graph), graph)
    values = rows.values
    if graph.states and layer.after:
        values = graph.part(values, graph.integers(0), graph.integers(-layer.after))
    return graph.rows_of(graph.add("Add", [values, outer]), width, rows)


@computed.register
def _self_attention(layer: SelfAttention, rows: Rows, graph: Graph) -> Rows:
    """Add attention, with positions relative to the run: angles depend only on differences of positions."""
    values = graph.masked(rows)
    parts = product(f"{layer.name}/inner", normalized(layer.normalization, values, graph), graph)
    queries, keys, of_rows = graph.add_several("Split", [parts], 3, axis=2, split=[rows.width] * 3)
    valid = graph.mask(rows)
    before = layer.left if graph.states else 0
    if before:
        keys, of_rows, valid = _with_those_before(layer, rows, (keys, of_rows, valid), graph)
    first, end = graph.integers(-before), graph.size(rows.values, 0)
    seen, asking = graph.range(first, end), graph.range(graph.integers(0), end)
    heads = layer.heads
    scores = graph.add(
        "MatMul",
        [
            _rotated(_of_heads(queries, heads, rows.width, graph), asking, rows.width // heads, graph),
            graph.add(
                "Transpose",
                [_rotated(_of_heads(keys, heads, rows.width, graph), seen, rows.width // heads, graph)],
                perm=[0, 1, 3, 2],
            ),
        ],
    )
    scaled = graph.add("Mul", [scores, graph.number((rows.width // heads) ** -0.5)])
    visible = _visible(layer, valid, asking, seen, graph)
    shares = graph.add("Softmax", [graph.add("Where", [visible, scaled, graph.number(UNSEEN)])], axis=3)
    means = graph.add("MatMul", [shares, _of_heads(of_rows, heads, rows.width, graph)])
    together = graph.add("Reshape", [graph.add("Transpose", [means], perm=[2, 0, 1, 3]), graph.integers(0, 0, -1)])
    outer = product(f"{layer.name}/outer", together, graph)
    return Rows(graph.add("Add", [rows.values, outer]), rows.width, rows.lengths, rows.advance)


def _with_those_before(
    layer: SelfAttention, rows: Rows, values: tuple[str, str, str], graph: Graph
) -> tuple[str, str, str]:
    """Return keys, values and validity with those of the rows before this run; the first run has no such rows."""
    joined = [
        graph.after_those_before(layer.name, each, layer.left, width, rows.advance)
        for each, width in zip(values, (rows.width, rows.width, 1), strict=True)
    ]
    return joined[0], joined[1], joined[2]


def _of_heads(values: str, heads: int, width: int, graph: Graph) -> str:
    """Return values [rows, batch, width] as [batch, heads, rows, width / heads]."""
    shape = graph.integers(0, 0, heads, width // heads)
    return graph.add("Transpose", [graph.add("Reshape", [values, shape])], perm=[1, 2, 0, 3])


def _rotated(values: str, places: str, size: int, graph: Graph) -> str:
    """Rotate the pairs of numbers of values [batch, heads, rows, size] by their positions' angles, int64 [rows]."""
    waves = (LONGEST_WAVE ** (-2 * np.arange(size // 2) / size)).astype(np.float32)
    columns = graph.add("Cast", [graph.add("Unsqueeze", [places], axes=[1])], to=TensorProto.FLOAT)
    angles = graph.add("Mul", [columns, graph.constant(f"waves_{len(graph.nodes)}", waves)])
    cosines, sines = graph.add("Cos", [angles]), graph.add("Sin", [angles])
    first, second = graph.add_several("Split", [values], 2, axis=3, split=[size // 2] * 2)
    turned = [
        graph.add(operator, [graph.add("Mul", [one, cosines]), graph.add("Mul", [other, sines])])
        for operator, one, other in (("Sub", first, second), ("Add", second, first))
    ]
    return graph.add("Concat", turned, axis=3)


def _visible(layer: SelfAttention, valid: str, asking: str, seen: str, graph: Graph) -> str:
    """Return which rows each row sees, bool [batch, 1, asking, seen]; `valid` is float32 [seen, batch, 1]."""
    present = graph.add("Less", [graph.number(0.5), graph.add("Transpose", [valid], perm=[1, 2, 0])])
    present = graph.add("Unsqueeze", [present], axes=[1])
    if not layer.chunk:
        return present
    chunks = graph.add("Div", [graph.add("Unsqueeze", [asking], axes=[1]), graph.integers(layer.chunk)])
    starts = graph.add("Mul", [chunks, graph.integers(layer.chunk)])
    others = graph.add("Unsqueeze", [seen], axes=[0])
    early = graph.add("Less", [others, graph.add("Sub", [starts, graph.integers(layer.left)])])
    in_time = graph.add("Less", [others, graph.add("Add", [starts, graph.integers(layer.chunk)])])
    near = graph.add("And", [in_time, graph.add("Not", [early])])
    return graph.add("And", [present, near])


def _swish(values: str, graph: Graph) -> str:
    return graph.add("Mul", [values, graph.add("Sigmoid", [values])])
