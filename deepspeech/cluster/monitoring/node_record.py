"""A node's record of itself: its state, its time use, and its network traffic."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ...util.monitoring.network import NetworkBytes, Traffic
from ...util.monitoring.time_use import Activity, TimeUse

REPORT_SECONDS = 5.0
"""Seconds between two reports to the coordinator."""

WINDOW_SECONDS = 60.0
"""Seconds that a report covers, approximately; it begins at an earlier report, so that changes show soon."""


class NodeState(str, Enum):
    """The state of a node; the value is its name in answers and metrics."""

    STARTING = "starting"
    """The node reads its input and builds its graph."""
    JOINING = "joining"
    """It waits for the coordinator to let it join, for the first time or again."""
    READY = "ready"
    """It works, or waits for work."""
    ENDING = "ending"
    """It was told to stop, or its work is over."""


class NodeRecord:
    """The record of one node; any thread may read and write it."""

    def __init__(self, name: str = "localhost", clock: Callable[[], float] = time.monotonic) -> None:
        """Begin the record of the node of this name, such as "worker 1"."""
        self.name = name
        self.state = NodeState.STARTING
        self.joined = 0
        """How often the node has joined the training."""
        self.time_use = TimeUse(clock)
        self.network = NetworkBytes()
        self._clock = clock
        self._lock = threading.Lock()
        self._stands: deque[_Stand] = deque()
        self._next_report = 0.0

    def note_joined(self) -> None:
        """Record that the node has joined, and restart its reports."""
        with self._lock:
            self._stands.clear()
            self._stands.append(self._stand())
            self._next_report = self._clock() + 1.0
        self.joined += 1
        self.state = NodeState.READY

    def report_if_due(self) -> dict[str, Any] | None:
        """Return the fields of a `TimesBody` every REPORT_SECONDS, None in between and before the node has joined."""
        with self._lock:
            now = self._clock()
            if not self._stands or now < self._next_report:
                return None
            self._next_report = now + REPORT_SECONDS
        recent = self.recent()
        return {**{each.value: seconds for each, seconds in recent.seconds.items()}, **recent.told}

    def recent(self) -> "Recent":
        """Return the time use of about the last minute; it begins at an earlier call of this or of `report_if_due`.

        Before the node has joined, return the use of all its time.
        """
        with self._lock:
            stand = self._stand()
            if not self._stands:
                return Recent(stand.seconds, stand.own_seconds_of_steps, stand.steps, stand.traffic)
            while len(self._stands) > 1 and self._stands[1].at <= stand.at - WINDOW_SECONDS:
                self._stands.popleft()
            first = self._stands[0]
            if stand.at >= self._stands[-1].at + REPORT_SECONDS:
                self._stands.append(stand)
        seconds = {each: max(spent - first.seconds[each], 0.0) for each, spent in stand.seconds.items()}
        traffic = Traffic(stand.traffic.sent - first.traffic.sent, stand.traffic.received - first.traffic.received)
        own = max(stand.own_seconds_of_steps - first.own_seconds_of_steps, 0.0)
        return Recent(seconds, own, stand.steps - first.steps, traffic)

    def _stand(self) -> "_Stand":
        use = self.time_use
        return _Stand(use.seconds(), use.own_seconds_of_steps(), use.steps.count, self.network.look(), self._clock())


@dataclass(frozen=True)
class Recent:
    """The time use in a span of time, and the training steps in it, their seconds without waiting, and the traffic."""

    seconds: dict[Activity, float]
    own_seconds_of_steps: float
    steps: int
    traffic: Traffic

    @property
    def told(self) -> dict[str, float]:
        """The steps and bytes, by the names of their fields in a `TimesBody`."""
        traffic = {"sent_bytes": self.traffic.sent, "received_bytes": self.traffic.received}
        return {"own_seconds_of_steps": self.own_seconds_of_steps, "steps": self.steps, **traffic}


@dataclass(frozen=True)
class _Stand(Recent):
    """The totals at a time, in seconds."""

    at: float
