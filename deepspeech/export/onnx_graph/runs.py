"""How a stream is cut into runs of a graph."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...network.description import LSTM, Network, SelfAttention
from ...util.features import UTTERANCE, FeatureOptions
from .features import samples_before


@dataclass(frozen=True)
class Runs:
    """Sizes in what the graph takes, frames or samples.

    A run takes any multiple of `shift` and `overlap` more, as its rows depend on what comes after them; the next run
    begins that multiple later, so that it takes the overlap again.
    """

    shift: int
    overlap: int


def runs_of_frames(network: Network) -> Runs | None:
    """Return the runs of a network that takes frames; None if it needs whole recordings.

    It does, too, if a layer depends on later rows of a layer with a state, which would have to go back.
    """
    shift, overlap = 1, 0
    for layer in reversed(network.layers):
        looks_ahead = layer.look_ahead
        if isinstance(layer, SelfAttention):
            shift, looks_ahead = math.lcm(shift, layer.chunk or 1), 0
        if not layer.streams or (overlap and isinstance(layer, LSTM | SelfAttention)):
            return None
        shift *= layer.time_reduction
        overlap = max(0, overlap * layer.time_reduction + looks_ahead + 1 - layer.time_reduction)
    return Runs(shift, overlap)


def runs_of_samples(network: Network, features: FeatureOptions) -> Runs | None:
    """Return the runs of a network and its features, which take samples; None if they need whole recordings."""
    frames = runs_of_frames(network)
    if frames is None or features.normalization == UTTERANCE:
        return None
    overlap = max(0, frames.overlap * features.skip_frames + features.stack_frames - features.skip_frames)
    after_step = max(0, features.window - samples_before(features) - features.step)
    shift = frames.shift * features.skip_frames * features.step
    return Runs(shift, overlap * features.step + after_step)
