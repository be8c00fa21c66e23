"""The cluster's state machine, shared between the server's thread and the chief's."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ..coordination.coordinator import ClusterCoordinator
from ..monitoring.step_traces import StepTraces

Answer = TypeVar("Answer")


class Service:
    """A `ClusterCoordinator` under a lock; wakes the requests that wait for a change, and the chief."""

    def __init__(
        self,
        coordinator: ClusterCoordinator,
        clock: Callable[[], float] = time.monotonic,
        traces: StepTraces | None = None,
    ) -> None:
        """Share a coordinator; `clock` measures leases, in seconds."""
        self.clock = clock
        self.traces = traces or StepTraces()
        self._coordinator = coordinator
        self._lock = threading.Lock()
        self._for_chief = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work = asyncio.Event()
        self._round = asyncio.Event()

    @contextmanager
    def locked(self) -> Iterator[ClusterCoordinator]:
        """Hold the coordinator's lock; do no I/O inside the context."""
        with self._lock:
            yield self._coordinator

    def changed(self) -> None:
        """Wake the requests that wait for a job or a step, and the chief; callable from any thread."""
        self._for_chief.set()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake_all)

    def work_returned(self) -> None:
        """Wake the requests that wait for a job, and the chief; callable from any thread.

        Thousands may wait for a step. They stay asleep: a step can begin only in a new round, and then the chief calls
        `changed`.
        """
        self._for_chief.set()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake_for_work)

    def wake_chief(self) -> None:
        """Wake only the chief, which may have a round to end."""
        self._for_chief.set()

    def wait(self, seconds: float) -> None:
        """Wait, on the chief's thread, for something to do."""
        self._for_chief.wait(seconds)
        self._for_chief.clear()

    def attach(self) -> None:
        """Serve from the running event loop."""
        self._loop = asyncio.get_running_loop()

    async def poll(
        self, ask: Callable[[ClusterCoordinator, float], Answer | None], seconds: float, *, for_a_round: bool = False
    ) -> Answer | None:
        """Call `ask` after each change until it returns an answer; return None after `seconds`.

        With `for_a_round`, `work_returned` does not count as a change.
        """
        deadline = self.clock() + seconds
        while True:
            changed = self._round if for_a_round else self._work
            with self._lock:
                answer = ask(self._coordinator, self.clock())
            left = deadline - self.clock()
            if answer is not None or left <= 0:
                return answer
            try:
                await asyncio.wait_for(changed.wait(), left)
            except asyncio.TimeoutError:
                return None

    def _wake_all(self) -> None:
        self._wake_for_work()
        self._round.set()
        self._round = asyncio.Event()

    def _wake_for_work(self) -> None:
        self._work.set()
        self._work = asyncio.Event()
