"""Ends training when TensorFlow never returns: it waits for ever for a server that is unreachable."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import ParamSpec, TypeVar

from .coordination.membership import Role
from .http.service import Service
from .node import end_hard_later

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

LOOK_SECONDS = 0.5
"""Seconds between two checks."""

HELD_UP_SECONDS = 10.0
"""Seconds between two checks from which on this process must have been suspended, for example by a scheduler."""


class Watchdog:
    """Watches the chief from a separate thread, as a context manager.

    Lets training fail when a parameter server is gone for longer than `patience` seconds, or when an operation of the
    chief on the parameter servers takes longer than expected. Then ends the process unless the chief does so.
    """

    def __init__(self, service: Service, parameter_servers: Sequence[str], patience: float) -> None:
        self._service = service
        self._parameter_servers = parameter_servers
        self._patience = patience
        self._ended = threading.Event()
        self._expected: tuple[float, float] | None = None  # the deadline, and the seconds until then
        self._thread = threading.Thread(target=self._look_again_and_again, name="watchdog", daemon=True)

    def __enter__(self) -> "Watchdog":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def expect(self, seconds: float) -> None:
        """Expect the chief's next operation to take `seconds` at most."""
        self._expected = time.monotonic() + seconds, seconds

    @contextmanager
    def expecting(self, seconds: float) -> Iterator[None]:
        """Limit the chief's operations inside the context to `seconds`; then restart the earlier limit."""
        before = inf if self._expected is None else self._expected[1]
        self.expect(seconds)
        try:
            yield
        finally:
            self.expect(before)

    def apart_from(self, act: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        """Return `act` without a time limit, for operations that hardly involve the parameter servers."""

        def act_unwatched(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
            with self.expecting(inf):
                return act(*arguments, **named)

        return act_unwatched

    def trouble(self, waiting_since: float) -> str | None:
        """Return why training must fail, or None; `waiting_since` is when the chief began to wait for the servers."""
        with self._service.locked() as coordinator:
            now = self._service.clock()
            coordinator.members.look(now)
            lost, missing = coordinator.members.lost_servers, coordinator.members.missing(Role.PARAMETER_SERVER)
            overdue = [task for task in missing if now - lost.get(task, waiting_since) >= self._patience]
        if not overdue:
            return None
        names = ", ".join(f"{task} ({self._parameter_servers[task]})" for task in overdue)
        return f"parameter server {names} did not come, or come back, for {self._patience:.0f} s"

    def _look_again_and_again(self) -> None:
        looked = time.monotonic()
        while not self._ended.wait(LOOK_SECONDS):
            before, looked = looked, time.monotonic()
            if self._expected is not None and looked - before > HELD_UP_SECONDS:
                self.expect(self._expected[1])
            reason = self._reason()
            if reason is not None:
                end_hard_later(reason)
                with self._service.locked() as coordinator:
                    coordinator.fail(reason)
                self._service.changed()
                return

    def _reason(self) -> str | None:
        if self._expected is not None and time.monotonic() > self._expected[0]:
            return f"the parameter servers have not answered for {self._expected[1]:.0f} s; are they still reachable?"
        return self.trouble(self._service.clock())
