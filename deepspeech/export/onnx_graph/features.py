"""Features in ONNX operators: from samples to frames.

A convolution over the samples computes the spectra; its stride is the step from one frame to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from onnx import TensorProto

from ...util.features import FeatureOptions
from ...util.front_ends import mfcc
from .graph import LAST, Graph, Rows
from .transforms import FBANK_FLOOR, fbank_filters, fbank_transform, mfcc_transform


def samples_before(features: FeatureOptions) -> int:
    """Return the number of a frame's samples before its step."""
    return features.window // 2 - features.step // 2 if COMPUTED[features.feature_type].centred else 0


def frames_of_samples(features: FeatureOptions, samples: str, lengths: str, advance: str, graph: Graph) -> Rows:
    """Return the features of samples, float32 [batch, samples]; `lengths` are int32 [batch], in samples."""
    if not graph.states:
        samples = graph.at_least_one(samples, axis=1, axes=2)
    compute = COMPUTED[features.feature_type].compute
    values, frames = compute(features, samples, graph.whole(lengths), advance, graph)
    shortened = graph.minimum(graph.add("Div", [frames, graph.integers(features.step)]), graph.size(values, 0))
    steps = graph.add("Div", [advance, graph.integers(features.step)])
    counted = graph.add("Cast", [shortened], to=TensorProto.INT32)
    return Rows(values, features.coefficients, counted, steps)


def stacked(rows: Rows, features: FeatureOptions, graph: Graph) -> Rows:
    """Return frames put together into longer ones; the last frame replaces missing frames."""
    size, skip = features.stack_frames, features.skip_frames
    mask = graph.mask(rows)
    later = graph.add("Sub", [graph.number(1.0), mask])
    after = graph.add("Pad", [mask, graph.integers(0, 0, 0, 1, 0, 0)])
    ends = graph.add("Sub", [mask, graph.part(after, graph.integers(1), graph.integers(LAST))])
    last = graph.add("ReduceSum", [graph.add("Mul", [rows.values, ends])], axes=[0], keepdims=1)
    values = graph.add("Add", [graph.add("Mul", [rows.values, mask]), graph.add("Mul", [last, later])])
    if not graph.states:  # repeat the last frame until the last stack is complete
        shape = graph.add(
            "Concat", [graph.integers(size + skip), graph.size(last, 1), graph.integers(rows.width)], axis=0
        )
        values = graph.add("Concat", [values, graph.add("Expand", [last, shape])], axis=0)
    count = _stacks(rows, values, size, skip, graph)
    end = graph.add("Mul", [count, graph.integers(skip)])
    parts = []
    for place in range(size):
        stop = graph.minimum(graph.add("Add", [end, graph.integers(place)]), graph.size(values, 0))
        inputs = [values, graph.integers(place), stop, graph.integers(0), graph.integers(skip)]
        parts.append(graph.add("Slice", inputs))
    return graph.rows_of(graph.add("Concat", parts, axis=2), size * rows.width, rows, skip)


def _stacks(rows: Rows, values: str, size: int, skip: int, graph: Graph) -> str:
    """Return the number of stacks, int64 [1]: as many as fit, but for a whole recording one for each `skip` frames."""
    if not graph.states:
        frames = graph.add("Add", [graph.size(rows.values, 0), graph.integers(skip - 1)])
        return graph.add("Div", [frames, graph.integers(skip)])
    frames = graph.add("Sub", [graph.size(values, 0), graph.integers(size - skip)])
    return graph.add("Div", [frames, graph.integers(skip)])


def _fbank(features: FeatureOptions, samples: str, count: str, advance: str, graph: Graph) -> tuple[str, str]:
    """Return Kaldi's log-mel energies, and the steps of each signal in samples, int64 [batch]."""
    signal = _mirrored(features, samples, count, advance, graph)
    power = _power(fbank_transform(features), features, signal, graph)
    frames = graph.add("Add", [count, graph.integers(features.step // 2)])
    return _logarithms(power, fbank_filters(features), FBANK_FLOOR, graph), frames


def _mfcc(features: FeatureOptions, samples: str, count: str, advance: str, graph: Graph) -> tuple[str, str]:
    """Return TensorFlow's MFCC, and the steps of each signal in samples, int64 [batch], at least one."""
    del advance
    power = _power(mfcc_transform(features), features, _ending_in_zeros(features, samples, count, graph), graph)
    energies = _logarithms(graph.add("Sqrt", [power]), mfcc.filters(features), mfcc.FLOOR, graph)
    cosines = graph.constant("features/cosines", mfcc.cosines(features.coefficients).astype(np.float32))
    frames = graph.add("Add", [count, graph.integers(2 * features.step - features.window)])
    least = graph.integers(features.step)
    if graph.states:  # later runs may have no frame
        begun = _begun(graph)
        least = graph.add("Where", [graph.add("Squeeze", [begun], axes=[1]), graph.integers(0), least])
    return graph.add("MatMul", [energies, cosines]), graph.maximum(frames, least)


def _ending_in_zeros(features: FeatureOptions, samples: str, count: str, graph: Graph) -> str:
    """Return samples with zeros after the end of each signal."""
    places = graph.add("Unsqueeze", [graph.range(graph.integers(0), graph.size(samples, 1))], axes=[0])
    there = graph.add("Less", [places, graph.add("Unsqueeze", [count], axes=[1])])
    signal = graph.add("Mul", [samples, graph.add("Cast", [there], to=TensorProto.FLOAT)])
    return signal if graph.states else graph.add("Pad", [signal, graph.integers(0, 0, 0, features.window)])


def _mirrored(features: FeatureOptions, samples: str, count: str, advance: str, graph: Graph) -> str:
    """Return samples after those of the run before, mirrored at both ends of each signal."""
    before = samples_before(features)
    after = 0 if graph.states else features.window - before
    twice = graph.add("Mul", [graph.add("Unsqueeze", [count], axes=[1]), graph.integers(2)])
    known = graph.add("Concat", [_mirrored_beginning(before, samples, twice, graph), samples], axis=1)
    if graph.states:
        known = _with_last_samples(before, known, advance, graph)
    end = graph.add("Add", [graph.size(samples, 1), graph.integers(after)])
    places = graph.add("Unsqueeze", [graph.range(graph.integers(-before), end)], axes=[0])
    mirrored = graph.add("Sub", [graph.add("Sub", [twice, graph.integers(1)]), places])
    chosen = graph.add("Add", [graph.minimum(places, mirrored), graph.integers(before)])
    limit = graph.add("Sub", [graph.size(known, 1), graph.integers(1)])
    indices = graph.minimum(graph.maximum(chosen, graph.integers(0)), limit)
    return graph.add("GatherElements", [known, indices], axis=1)


def _mirrored_beginning(before: int, samples: str, twice: str, graph: Graph) -> str:
    """Return the first samples mirrored, float32 [batch, before]; `twice` is twice the length of each signal.

    A signal that is shorter than `before` is mirrored at its end, too, and so on.
    """
    places = graph.constant("mirrored_places", np.arange(before - 1, -1, -1)[None])
    around = graph.add("Mod", [places, graph.maximum(twice, graph.integers(1))])
    back = graph.add("Sub", [graph.add("Sub", [twice, graph.integers(1)]), around])
    indices = graph.maximum(graph.minimum(around, back), graph.integers(0))
    return graph.add("GatherElements", [samples, indices], axis=1)


def _with_last_samples(before: int, signal: str, advance: str, graph: Graph) -> str:
    """Return a signal that begins with the last samples of the previous run, if there was one."""
    assert graph.states
    previous = graph.states.previous("samples", (before,))
    beginning = graph.part(signal, graph.integers(0), graph.integers(before), axis=1)
    rest = graph.part(signal, graph.integers(before), graph.integers(LAST), axis=1)
    chosen = graph.add("Where", [_begun(graph), previous, beginning])
    known = graph.add("Concat", [chosen, rest], axis=1)
    kept = graph.add("Add", [advance, graph.integers(before)])
    graph.states.add_new(previous, graph.part(known, advance, kept, axis=1))
    return known


def _begun(graph: Graph) -> str:
    """Return whether there was a previous run, bool [batch, 1]."""
    assert graph.states
    begun = graph.states.previous("begun", (1,))
    graph.states.add_new(begun, graph.add("Clip", [begun, graph.number(1.0), graph.number(1.0)]))
    return graph.add("Less", [graph.number(0.5), begun])


def _power(transform: npt.NDArray[np.float64], features: FeatureOptions, signal: str, graph: Graph) -> str:
    """Return the power spectra of the windows of signals [batch, samples], float32 [frames, batch, bins]."""
    bins = len(transform) // 2
    kernel = graph.constant("features/transform", transform.astype(np.float32)[:, None])
    inputs = [graph.add("Unsqueeze", [signal], axes=[1]), kernel]
    spectra = graph.add("Conv", inputs, kernel_shape=[features.window], strides=[features.step])
    by_frame = graph.add("Transpose", [spectra], perm=[2, 0, 1])
    squares = graph.add("Mul", [by_frame, by_frame])
    real, imaginary = graph.add_several("Split", [squares], 2, axis=2, split=[bins, bins])
    return graph.add("Add", [real, imaginary])


def _logarithms(spectra: str, filters: npt.NDArray[np.float64], floor: float, graph: Graph) -> str:
    """Return the logarithms of spectra times filters, [bins, filters]; products below `floor` count as `floor`."""
    energies = graph.add("MatMul", [spectra, graph.constant("features/filters", filters.astype(np.float32))])
    return graph.add("Log", [graph.add("Max", [energies, graph.number(floor)])])


@dataclass(frozen=True)
class Computation:
    """How a front end is computed: `compute` returns the frames of samples, and the steps of each signal in samples.

    `centred`: each window is centred on its step, and does not begin with it.
    """

    compute: Callable[[FeatureOptions, str, str, str, Graph], tuple[str, str]]
    centred: bool = False


COMPUTED: Mapping[str, Computation] = {
    "audio_ops": Computation(_mfcc),
    "fbank": Computation(_fbank, centred=True),
}
"""The front ends that models in ONNX can compute."""
