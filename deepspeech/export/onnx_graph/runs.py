"""How a stream is cut into runs of a graph."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...network.description import Network, SelfAttention
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

    It does, too, if a layer depends on later rows of attention, whose rows before a run would have to go back.
    """
    overlaps = overlaps_of_inputs(network)
    held = [each for each in network.layers if isinstance(each, SelfAttention) and overlaps[each.name]]
    if held or not network.streams:
        return None
    shift = 1
    for layer in reversed(network.layers):
        shift = math.lcm(shift, layer.group) * layer.time_reduction
    return Runs(shift, overlaps[network.layers[0].name])


def overlaps_of_inputs(network: Network) -> dict[str, int]:
    """Return how many rows of its inputs each layer needs, by its name, beyond those that a run goes on by."""
    overlaps, overlap = {}, 0
    for layer in reversed(network.layers):
        missing = layer.missing_in_group
        computed = -(-(overlap + missing) // layer.group) * layer.group - missing
        overlap = max(0, computed * layer.time_reduction + layer.look_ahead + 1 - layer.time_reduction)
        overlaps[layer.name] = overlap
    return overlaps


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
