"""Features warped in time and frequency (SpecAugment's time warp; Park et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..augmentation import FEATURES, Array, Augmentation, Occasion
from ..ranges import Range


@dataclass(frozen=True, kw_only=True)
class Warp(Augmentation):
    """A grid of points that move; the features between them move with them."""

    kind: ClassVar[str] = "warp"
    summary: ClassVar[str] = (
        "warps the features: the `nt` times `nf` inner points of a grid move in time, with a standard deviation of half"
        " the share `wt` of the distance between two points, and likewise by `wf` in frequency; the edges stay"
    )
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        "nt": (1.0, 1000.0),
        "nf": (1.0, 1000.0),
        "wt": (0.0, 10.0),
        "wf": (0.0, 10.0),
    }
    domain: str = FEATURES
    nt: Range = Range(1.0)
    nf: Range = Range(1.0)
    wt: Range = Range(0.1)
    wf: Range = Range(0.0)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return an array of the same shape."""
        from scipy.ndimage import map_coordinates  # takes half a second

        grid = occasion.draw_whole(self.nt), occasion.draw_whole(self.nf)
        shares = occasion.draw(self.wt), occasion.draw(self.wf)
        places = np.indices(array.shape).astype(np.float32)
        for axis, (points, share) in enumerate(zip(grid, shares, strict=True)):
            moves = occasion.random.standard_normal(grid) * share * array.shape[axis] / (2 * (points + 1))
            places[axis] += _spread(moves, array.shape)
        warped: Array = map_coordinates(array, places, order=1, mode="nearest")
        return warped


def _spread(moves: npt.NDArray[np.float64], shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Return how far each entry of an array of `shape` moves, interpolated between the grid's points and the edges."""
    framed = np.pad(moves, 1)
    for_times, for_channels = (_weights(points, size) for points, size in zip(framed.shape, shape, strict=True))
    return (for_times @ framed @ for_channels.T).astype(np.float32)


def _weights(points: int, size: int) -> npt.NDArray[np.float64]:
    """Return the weights of evenly spaced points at `size` places between the first and the last, [size, points]."""
    places = np.linspace(0, points - 1, size)
    weights: npt.NDArray[np.float64] = np.maximum(0, 1 - np.abs(places[:, None] - np.arange(points)))
    return weights
