"""Simulated time: processes that wait for some seconds or for a signal, and queues that serve one process at a time."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator


class Signal:
    """An event that processes wait for; it may be sent repeatedly."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Process, int]] = []

    def note(self, process: Process) -> None:
        """Add a process to those that wait, in its current pause."""
        self._waiting.append((process, process.pause))

    @property
    def waiting(self) -> list[Process]:
        """The waiting processes, in order, without those that have continued since, for example after a timeout."""
        return [process for process, pause in self._waiting if process.pause == pause]

    def clear(self) -> None:
        """Remove all waiting processes."""
        self._waiting.clear()


Pause = float | tuple[Signal, float]
"""Seconds to wait, or a signal to wait for and its timeout in seconds."""

Steps = Generator[Pause, bool, None]
"""The steps of a process: it yields pauses; after a pause for a signal, it is sent whether the signal came."""


class Process:
    """A process in simulated time, until it ends or is killed; each of its pauses has its own number."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.pause = 0


class Time:
    """The simulated clock, and the events that are due."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, int, Process, int, bool]] = []
        self._count = 0

    def start(self, steps: Steps, after: float = 0.0) -> Process:
        """Start a process after some seconds."""
        process = Process(steps)
        self._resume(process, after)
        return process

    def kill(self, process: Process) -> None:
        """End a process at once."""
        process.pause += 1
        process.steps.close()

    def send(self, signal: Signal, between: float = 0.0) -> None:
        """Wake the processes that wait for a signal, in order and `between` seconds apart."""
        waiting = signal.waiting
        signal.clear()
        for place, process in enumerate(waiting):
            process.pause += 1
            self._resume(process, place * between, came=True)

    def run(self, until: float, ended: Callable[[], bool] = lambda: False) -> None:
        """Advance time until `until`, until no events are left, or until `ended` returns True."""
        while self._due and self._due[0][0] <= until and not ended():
            self.now, _, process, pause, came = heapq.heappop(self._due)
            if process.pause == pause:
                self._go_on(process, came)

    def _go_on(self, process: Process, came: bool) -> None:
        process.pause += 1
        try:
            pause = next(process.steps) if process.pause == 1 else process.steps.send(came)
        except StopIteration:
            return
        if isinstance(pause, tuple):
            signal, seconds = pause
            signal.note(process)
            self._resume(process, seconds)
        else:
            self._resume(process, pause, came=True)

    def _resume(self, process: Process, seconds: float, came: bool = False) -> None:
        self._count += 1
        heapq.heappush(self._due, (self.now + seconds, self._count, process, process.pause, came))


class Queue:
    """A queue that serves requests one at a time, in the order of their arrival."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._free_at = 0.0
        self.busy_seconds = 0.0

    def wait(self, seconds: float) -> float:
        """Add a request that takes some seconds to serve; return in how many seconds it is done."""
        self._free_at = max(self._free_at, self._time.now) + seconds
        self.busy_seconds += seconds
        return self._free_at - self._time.now
