"""An estimate of how long the rest of training takes, which is told less often the longer training lasts."""

from __future__ import annotations

import time
from collections.abc import Callable

from ...util.figures.counted import counted
from ...util.progress import duration

LEAST_SECONDS = 60.0
"""Estimates below this are not told."""
SHARE_TOLD = 0.75
"""The next estimate is told when this share of the epochs that were left at the last one is left."""


class RemainingTime:
    """Estimates, at the ends of training epochs, the time that those still to come take, with their validation."""

    def __init__(self, *, may_stop_early: bool, clock: Callable[[], float] = time.monotonic) -> None:
        """Tell that training may end earlier if it `may_stop_early`."""
        self._ends_early = ", or earlier if validation no longer improves" if may_stop_early else ""
        self._clock = clock
        self._first_end: float | None = None
        self._epochs = 0
        self._left_when_told: int | None = None

    def epoch_done(self, left: int) -> str:
        """Return the estimate as a sentence at the end of an epoch after which `left` are left; empty if none is due.

        The first epoch of a run, which includes preparations or only a part of an epoch, does not count.
        """
        now = self._clock()
        if self._first_end is None:
            self._first_end = now
            return ""
        self._epochs += 1
        seconds = (now - self._first_end) / self._epochs * left
        due = self._left_when_told is None or left <= SHARE_TOLD * self._left_when_told
        if seconds < LEAST_SECONDS or not due:
            return ""
        self._left_when_told = left
        return f"Training ends in about {duration(seconds)}, after {counted(left, 'more epoch')}{self._ends_early}"
