"""Weights as lines of text: their layers, shapes, sizes and statistics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...util.figures.counted import counted
from .model_weights import ModelWeights

BARS = " ▁▂▃▄▅▆▇█"
PLAIN_BARS = " .:-=+*#@"
"""Characters for increasing counts of values, and the ASCII characters that replace them."""
BINS = 60


@dataclass(frozen=True)
class Figures:
    """Statistics of an array's finite values, the share of zeros among all values, the number that are not finite."""

    mean: float
    deviation: float
    lowest: float
    highest: float
    zeros: float
    not_finite: int

    @staticmethod
    def of(values: npt.NDArray[Any]) -> Figures:
        """Return the statistics of numbers of any type and shape; those of no numbers are 0."""
        finite = _finite(values)
        not_finite = values.size - finite.size
        zeros = float(np.count_nonzero(values == 0)) / max(values.size, 1)
        if not finite.size:
            return Figures(0.0, 0.0, 0.0, 0.0, zeros, not_finite)
        with np.errstate(over="ignore"):
            mean, deviation = float(finite.mean()), float(finite.std())
        return Figures(mean, deviation, float(finite.min()), float(finite.max()), zeros, not_finite)

    @property
    def in_words(self) -> str:
        """The statistics in a line."""
        told = f"mean {self.mean:.4g}, deviation {self.deviation:.4g}, {self.zeros:.1%} zeros"
        return told + (f", {self.not_finite} NOT FINITE" if self.not_finite else "")


def lines_of(source: ModelWeights, *, bars: str = "") -> Iterator[str]:
    """Yield a line about the model, one for each layer and, below it, for each of its weights; then the totals.

    With `bars`, as for `drawn_histogram`, a histogram of its values is below each weight.
    """
    yield about(source)
    width = max(len(name) for layer in source.layers for name in layer.weights)
    shapes = max(len(str(value.shape)) for layer in source.layers for value in layer.weights.values())
    for layer in source.layers:
        yield f"{layer.name}: {sum(value.size for value in layer.weights.values()):,} parameters"
        for name, value in layer.weights.items():
            of_type = "" if value.dtype == np.float32 else f" {value.dtype}"
            yield f"  {name:{width}}  {value.shape!s:{shapes}}{of_type}  {Figures.of(value).in_words}"
            if bars:
                yield f"    {drawn_histogram(value, bars)}"
    arrays = [value for layer in source.layers for value in layer.weights.values()]
    yield (
        f"{len(arrays)} weights in {counted(len(source.layers), 'layer')}, "
        f"{sum(value.size for value in arrays):,} parameters, {sum(value.nbytes for value in arrays) / 1e6:,.1f} MB"
    )


def about(source: ModelWeights) -> str:
    """Return a line about the model that the weights belong to, as far as their file describes it."""
    if not source.description:
        return f"{source.origin}: does not describe the model of its weights"
    parts = [f"network {source.network_name}"]
    if source.labels is not None:
        parts.append(f"{counted(len(source.labels), 'label')} ({source.output_unit})")
    features = source.features
    if features is not None:
        parts.append(f"{features.in_words} at {features.sample_rate} Hz")
    return f"{source.origin}: {', '.join(parts)}"


def drawn_histogram(values: npt.NDArray[Any], bars: str = BARS) -> str:
    """Return a histogram of the finite values: the lowest value, a bar for each of equal bins, the highest value.

    `bars` are characters, from that for no value to that for the largest count.
    """
    finite = _finite(values)
    if not finite.size:
        return "no finite values"
    low, high = finite.min(), finite.max()
    span = high / 2 - low / 2  # half of the range, which is always finite
    places = (finite / 2 - low / 2) / span * BINS if span else np.full(finite.size, BINS / 2)
    counts = np.bincount(np.minimum(places.astype(int), BINS - 1), minlength=BINS)
    heights = np.ceil(counts / counts.max() * (len(bars) - 1)).astype(int)
    return f"{low:.4g} {''.join(bars[height] for height in heights)} {high:.4g}"


def _finite(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    numbers = values.astype(np.float64).reshape(-1)
    return numbers[np.isfinite(numbers)]
