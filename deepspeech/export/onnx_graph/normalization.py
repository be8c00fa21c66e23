"""The normalization of features in ONNX operators; the equations are in `deepspeech.util.frames.normalization`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from onnx import TensorProto

from ...util.features import GLOBAL, RUNNING, UTTERANCE, FeatureOptions
from ...util.frames.normalization import PRIOR_VALUES, SMALLEST_VARIANCE, FeatureStatistics
from .graph import Graph, Rows


def normalized_features(rows: Rows, features: FeatureOptions, statistics: FeatureStatistics, graph: Graph) -> Rows:
    """Return frames of features, stacked as the features say, after their normalization."""
    shape = graph.integers(0, 0, features.stack_frames, features.coefficients)
    by_coefficient = graph.add("Reshape", [rows.values, shape])
    mean = graph.constant("features/mean", statistics.mean)
    deviation = graph.constant("features/deviation", statistics.deviation)
    values = graph.add("Div", [graph.add("Sub", [by_coefficient, mean]), deviation])
    values = COMPUTED[features.normalization](values, rows, features, graph)
    return Rows(
        graph.add("Reshape", [values, graph.integers(0, 0, features.width)]), rows.width, rows.lengths, rows.advance
    )


def _by_training_set(values: str, _rows: Rows, _features: FeatureOptions, _graph: Graph) -> str:
    """Return values, which the statistics of the training set have normalized."""
    return values


def _running(values: str, rows: Rows, features: FeatureOptions, graph: Graph) -> str:
    """Return values [rows, batch, stacked, coefficients], each row normalized by all values up to it."""
    size = features.coefficients
    squares = graph.add("Mul", [values, values])
    totals = [_sums_so_far(each, size, rows, graph) for each in (values, squares)]
    ends = graph.add("Unsqueeze", [graph.range(graph.integers(1), _after_last(rows, graph))], axes=[1, 2])
    counted = graph.add("Mul", [graph.add("Cast", [ends], to=TensorProto.FLOAT), graph.number(features.stack_frames)])
    if graph.states:
        before = graph.states.previous("count", (1,))
        counted = graph.add("Add", [counted, before])
        graph.states.add_new(before, _last_advanced(counted, rows, graph))
    counts = graph.add("Add", [counted, graph.number(PRIOR_VALUES)])
    mean = graph.add("Div", [totals[0], counts])
    mean_square = graph.add("Div", [graph.add("Add", [totals[1], graph.number(PRIOR_VALUES)]), counts])
    variance = graph.add("Sub", [mean_square, graph.add("Mul", [mean, mean])])
    mean, variance = (graph.add("Unsqueeze", [each], axes=[2]) for each in (mean, variance))
    return _divided(values, mean, variance, graph)


def _sums_so_far(values: str, size: int, rows: Rows, graph: Graph) -> str:
    """Return the sums of values [rows, batch, stacked, size] up to each row, float32 [rows, batch, size]."""
    by_row = graph.add("ReduceSum", [values], axes=[2], keepdims=0)
    sums = graph.add("CumSum", [by_row, graph.integer(0)])
    if graph.states:
        before = graph.states.previous("sums", (size,))
        sums = graph.add("Add", [sums, before])
        graph.states.add_new(before, _last_advanced(sums, rows, graph))
    return sums


def _last_advanced(values: str, rows: Rows, graph: Graph) -> str:
    """Return the last row before the next run's, [batch, n], of values [rows, batch, n]."""
    last = graph.add("Sub", [rows.advance, graph.integers(1)])
    return graph.add("Squeeze", [graph.add("Gather", [values, last], axis=0)], axes=[0])


def _by_utterance(values: str, rows: Rows, features: FeatureOptions, graph: Graph) -> str:
    """Return values [rows, batch, stacked, coefficients], normalized by each utterance's values."""
    mask = graph.add("Unsqueeze", [graph.mask(rows)], axes=[3])
    lengths = graph.maximum(graph.whole(rows.lengths), graph.integers(1))
    counts = graph.add("Mul", [graph.add("Cast", [lengths], to=TensorProto.FLOAT), graph.number(features.stack_frames)])
    counts = graph.add("Unsqueeze", [counts], axes=[0, 2, 3])

    def mean_of(each: str) -> str:
        total = graph.add("ReduceSum", [graph.add("Mul", [each, mask])], axes=[0, 2], keepdims=1)
        return graph.add("Div", [total, counts])

    mean = mean_of(values)
    centred = graph.add("Sub", [values, mean])
    return _divided(values, mean, mean_of(graph.add("Mul", [centred, centred])), graph)


def _divided(values: str, mean: str, variance: str, graph: Graph) -> str:
    deviation = graph.add("Sqrt", [graph.add("Max", [variance, graph.number(SMALLEST_VARIANCE)])])
    return graph.add("Div", [graph.add("Sub", [values, mean]), deviation])


def _after_last(rows: Rows, graph: Graph) -> str:
    return graph.add("Add", [graph.size(rows.values, 0), graph.integers(1)])


COMPUTED: Mapping[str, Callable[[str, Rows, FeatureOptions, Graph], str]] = {
    GLOBAL: _by_training_set,
    RUNNING: _running,
    UTTERANCE: _by_utterance,
}
"""How each normalization changes values that the statistics of the training set have normalized."""
