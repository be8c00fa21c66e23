"""The division of a stream into runs of a graph."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...network.description import Network, SelfAttention
from ...util.features import FeatureOptions
from .features import samples_before


@dataclass(frozen=True)
class Runs:
    """The sizes of runs, in units of the graph's input: frames or samples.

    A run takes any multiple of `shift`, and `overlap` more, as its rows depend on later input. The next run begins that
    multiple later, so it takes the overlap again.
    """

    shift: int
    overlap: int


def runs_of_frames(network: Network) -> Runs | None:
    """Return the runs of a network that takes frames; None if it needs whole recordings.

    It also needs them if a layer depends on later rows of attention: the rows before a run, which attention keeps,
    would have to go back.
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
    """Return the number of rows of input that each layer, by name, needs beyond those by which a run advances."""
    overlaps, overlap = {}, 0
    for layer in reversed(network.layers):
        missing = layer.missing_in_group
        computed = -(-(overlap + missing) // layer.group) * layer.group - missing
        overlap = max(0, computed * layer.time_reduction + layer.look_ahead + 1 - layer.time_reduction)
        overlaps[layer.name] = overlap
    return overlaps


def runs_of_features(network: Network, features: FeatureOptions) -> Runs | None:
    """Return the runs of a network that stacks and normalizes the front end's frames itself; None as above."""
    runs = runs_of_frames(network)
    if runs is None or features.of_whole_recordings:
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
