"""Weights as lines of text: their layers, shapes, sizes and statistics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .model_weights import ModelWeights

BARS = " ▁▂▃▄▅▆▇█"
PLAIN_BARS = " .:-=+*#@"
"""Characters that stand for more and more values, and those of ASCII in their place."""
BINS = 60


@dataclass(frozen=True)
class Figures:
    """Statistics of an array: those of its finite values, the share of all that are zero, how many are not finite."""

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
    """Yield what the weights stand for, a line for each layer and, below it, for each weight; then the totals.

    With `bars`, as `drawn_histogram` takes them, the values of each weight are drawn below it.
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
    layers = f"{len(source.layers)} layer" + ("s" if len(source.layers) != 1 else "")
    yield (
        f"{len(arrays)} weights in {layers}, {sum(value.size for value in arrays):,} parameters, "
        f"{sum(value.nbytes for value in arrays) / 1e6:,.1f} MB"
    )


def about(source: ModelWeights) -> str:
    """Return in a line what the weights stand for, as far as their file tells."""
    if not source.description:
        return f"{source.origin}: does not say what its weights stand for"
    parts = [f"network {source.network_name}"]
    if source.labels is not None:
        parts.append(f"{len(source.labels)} labels ({source.output_unit})")
    features = source.features
    if features is not None:
        parts.append(f"{features.in_words} at {features.sample_rate} Hz")
    return f"{source.origin}: {', '.join(parts)}"


def drawn_histogram(values: npt.NDArray[Any], bars: str = BARS) -> str:
    """Return the finite values' counts in equal bins between the lowest and the highest, as bars between these two.

    `bars` are characters, from that of no value to that of the most.
    """
    finite = _finite(values)
    if not finite.size:
        return "no finite values"
    low, high = finite.min(), finite.max()
    span = high / 2 - low / 2  # of which half is finite, whatever they are
    places = (finite / 2 - low / 2) / span * BINS if span else np.full(finite.size, BINS / 2)
    counts = np.bincount(np.minimum(places.astype(int), BINS - 1), minlength=BINS)
    heights = np.ceil(counts / counts.max() * (len(bars) - 1)).astype(int)
    return f"{low:.4g} {''.join(bars[height] for height in heights)} {high:.4g}"


def _finite(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    numbers = values.astype(np.float64).reshape(-1)
    return numbers[np.isfinite(numbers)]
