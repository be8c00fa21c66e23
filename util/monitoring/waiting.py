"""Measures how long a process waits for something, without the time for which it was suspended meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable

HELD_UP_SECONDS = 40.0
"""More seconds than one request takes with all its timeouts."""

COUNTED_SECONDS = 1.0
"""Seconds that a suspension counts as, so that a wait whose every look takes too long also ends."""


class Waiting:
    """A wait that begins now; `seconds` is called again and again until it is over."""

    def __init__(self, held_up: float = HELD_UP_SECONDS, clock: Callable[[], float] | None = None) -> None:
        """Begin; `held_up` seconds or more between two calls mean that the process was suspended.

        The clock returns seconds; by default, it is `time.monotonic`.
        """
        self._held_up = held_up
        self._clock = clock
        self._waited = 0.0
        self._looked = self._now()

    def seconds(self) -> float:
        """Return the seconds of the wait so far; a suspension counts as COUNTED_SECONDS."""
        before, self._looked = self._looked, self._now()
        since = self._looked - before
        self._waited += since if since < self._held_up else COUNTED_SECONDS
        return self._waited

    def _now(self) -> float:
        return time.monotonic() if self._clock is None else self._clock()
