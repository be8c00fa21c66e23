"""How a process spends the time of training: each second of the thread that does the steps belongs to one activity."""

import threading
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

Item = TypeVar("Item")

DURATION_BOUNDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
"""Upper bounds, in seconds, of the buckets of the histogram of durations."""

INTERVALS_KEPT = 256
"""The most intervals of a step that are kept for its trace; the newest are kept."""


class Activity(str, Enum):
    """An activity of the thread that does the steps; the value is its name in JSON and in metrics."""

    COMPUTING = "computing"
    """Running a step, including reading its weights and sending its gradient."""
    FEEDING = "feeding"
    """Waiting for a batch to be made."""
    WAITING = "waiting"
    """Waiting for the coordinator: for a job, the round of a step, or an answer."""
    DECODING = "decoding"
    """Waiting for the decoder, for reports."""
    OTHER = "other"
    """Everything else, such as saving checkpoints on a single machine."""


@dataclass(frozen=True)
class Interval:
    """An activity from `begin` to `end`, in seconds of the clock."""

    activity: Activity
    begin: float
    end: float


@dataclass
class Durations:
    """Histogram: the counts of durations up to each of DURATION_BOUNDS and above the last, and the sum in seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(DURATION_BOUNDS) + 1))
    sum: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(DURATION_BOUNDS, seconds)] += 1
        self.sum += seconds

    @property
    def count(self) -> int:
        """The number of durations."""
        return sum(self.counts)


class TimeUse:
    """The seconds of one thread by activity, and the durations of its steps. Any thread may read them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with `Activity.OTHER`; `clock` returns seconds."""
        self._clock = clock
        self._lock = threading.Lock()
        self._seconds = dict.fromkeys(Activity, 0.0)
        self._activity = Activity.OTHER
        self._since = clock()
        self._doing_steps = False
        self._own_seconds_of_steps = 0.0
        self._intervals: deque[Interval] = deque(maxlen=INTERVALS_KEPT)
        self.steps = Durations()
        """Durations of training steps: waiting for the round and computing, without feeding."""
        self.round_waits = Durations()
        """Durations of training steps' waits for their rounds."""

    @contextmanager
    def during(self, activity: Activity) -> Iterator[None]:
        """Count the time of the block for the activity, except the time of nested activities."""
        before = self._switch(activity)
        try:
            yield
        finally:
            self._switch(before)

    @contextmanager
    def doing_steps(self) -> Iterator[None]:
        """Count the time of the block, except waiting, also as time of training steps."""
        self._switch(self._activity, doing_steps=True)
        try:
            yield
        finally:
            self._switch(self._activity, doing_steps=False)

    def while_awaiting(self, items: Iterable[Item], activity: Activity) -> Iterator[Item]:
        """Yield the items; count the time until each one arrives for the activity."""
        source = iter(items)
        while True:
            with self.during(activity):
                try:
                    item = next(source)
                except StopIteration:
                    return
            yield item

    @contextmanager
    def timed(self, durations: Durations) -> Iterator[None]:
        """Add the time of the block to `durations`, unless an exception ends it."""
        begin = self._clock()
        yield
        with self._lock:
            durations.observe(self._clock() - begin)

    def seconds(self) -> dict[Activity, float]:
        """Return the seconds of each activity so far, including the current one."""
        with self._lock:
            return {**self._seconds, self._activity: self._seconds[self._activity] + self._clock() - self._since}

    def own_seconds_of_steps(self) -> float:
        """Return the seconds of training steps so far, without waiting; validation does not count."""
        with self._lock:
            return self._own_seconds_of_steps + self._own_seconds_since(self._clock())

    def present(self) -> tuple[Activity, float]:
        """Return the current activity and its seconds so far."""
        with self._lock:
            return self._activity, self._clock() - self._since

    def take_intervals(self) -> list[Interval]:
        """Return the intervals that have ended since the last call, oldest first."""
        with self._lock:
            taken = list(self._intervals)
            self._intervals.clear()
        return taken

    def _switch(self, activity: Activity, *, doing_steps: bool | None = None) -> Activity:
        with self._lock:
            now, before = self._clock(), self._activity
            self._seconds[before] += now - self._since
            self._own_seconds_of_steps += self._own_seconds_since(now)
            if before is not Activity.OTHER and now > self._since:
                self._intervals.append(Interval(before, self._since, now))
            self._activity, self._since = activity, now
            if doing_steps is not None:
                self._doing_steps = doing_steps
        return before

    def _own_seconds_since(self, now: float) -> float:
        return now - self._since if self._doing_steps and self._activity is not Activity.WAITING else 0.0


def shares(seconds: Mapping[Activity, float]) -> dict[str, float]:
    """Return the share of the whole time, 0 to 1, of each activity by its name; empty if no time has passed."""
    whole = sum(seconds.values())
    return {activity.value: of_it / whole for activity, of_it in seconds.items()} if whole > 0 else {}
