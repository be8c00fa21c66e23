"""Windows of shards: neighbours that are read and mixed together, so that few shards must be here at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from .members import is_shard

SHARD_WINDOW = 4
"""The number of shards in a window, unless another is chosen."""


class Listed(Protocol):
    """An utterance of a list."""

    @property
    def csv_file(self) -> str:
        """The list, or the shard."""


Utterance = TypeVar("Utterance", bound=Listed)


def in_windows(utterances: Sequence[Utterance], shards: int) -> tuple[list[Utterance], tuple[int, ...]]:
    """Return utterances window by window, and the index of the first utterance of each window, beginning with 0.

    A window has this many `shards` (0: all), in the order of their names. Utterances outside shards are the first
    window. Within a window the order stays.
    """
    names = sorted(name for name in {each.csv_file for each in utterances} if is_shard(Path(name)))
    if not shards or not names:
        return list(utterances), (0,)
    window_of = {name: 1 + place // shards for place, name in enumerate(names)}
    ordered = sorted(utterances, key=lambda each: window_of.get(each.csv_file, 0))
    windows = [window_of.get(each.csv_file, 0) for each in ordered]
    starts = [place for place, window in enumerate(windows) if place == 0 or window != windows[place - 1]]
    return ordered, tuple(starts)
