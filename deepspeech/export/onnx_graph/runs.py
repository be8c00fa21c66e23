"""How a stream is cut into runs of a graph."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...network.description import LSTM, ChunkedLSTM, Network, SelfAttention
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
        if isinstance(layer, SelfAttention | ChunkedLSTM):
            shift, looks_ahead = math.lcm(shift, layer.chunk or 1), 0
        if not layer.streams or (overlap and isinstance(layer, LSTM | SelfAttention | ChunkedLSTM)):
            return None
        shift *= layer.time_reduction
        overlap = max(0, overlap * layer.time_reduction + looks_ahead + 1 - layer.time_reduction)
    return Runs(shift, overlap)


def runs_of_features(network: Network, features: FeatureOptions) -> Runs | None:
    """Return the runs of a network that takes a front end's frames, which it stacks and normalizes; None as above."""
    runs = runs_of_frames(network)
    if runs is None or features.normalization == UTTERANCE:
        return None
    overlap = max(0, runs.overlap * features.skip_frames + features.stack_frames - features.skip_frames)
    return Runs(runs.shift * features.skip_frames, overlap)


def runs_of_samples(network: Network, features: FeatureOptions) -> Runs | None:
    """Return the runs of a network that takes samples; None if it needs whole recordings."""
    runs = runs_of_features(network, features)
    if runs is None:
        return None
    after_step = max(0, features.window - samples_before(features) - features.step)
    return Runs(runs.shift * features.step, runs.overlap * features.step + after_step)
