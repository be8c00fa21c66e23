"""The cluster's state machine shared between threads: those that serve requests, and the chief's."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ..coordination.coordinator import ClusterCoordinator

Answer = TypeVar("Answer")


class Service:
    """Guards a `ClusterCoordinator` with a lock, and wakes who waits for a change of it."""

    def __init__(self, coordinator: ClusterCoordinator, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives the seconds that leases are measured in."""
        self.clock = clock
        self._coordinator = coordinator
        self._lock = threading.Lock()
        self._for_chief = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changed = asyncio.Event()

    @contextmanager
    def locked(self) -> Iterator[ClusterCoordinator]:
        """The coordinator, for as long as nobody else may touch it: never do I/O meanwhile."""
        with self._lock:
            yield self._coordinator

    def changed(self) -> None:
        """Wake everyone who waits for a job or a step; from any thread."""
        self._for_chief.set()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

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

    async def poll(self, ask: Callable[[ClusterCoordinator, float], Answer | None], seconds: float) -> Answer | None:
        """Ask until there is an answer, at most for so many seconds, every time that something has changed."""
        deadline = self.clock() + seconds
        while True:
            changed = self._changed
            with self._lock:
                answer = ask(self._coordinator, self.clock())
            left = deadline - self.clock()
            if answer is not None or left <= 0:
                return answer
            try:
                await asyncio.wait_for(changed.wait(), left)
            except asyncio.TimeoutError:
                return None

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
