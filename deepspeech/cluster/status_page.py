"""The status page of training on one machine: a cluster's, without members and jobs. It needs no TensorFlow."""

import errno
import logging
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import FlagError
from ..schedule.snapshot import Publish, Snapshot
from .coordination.status import phase_of_training, seconds_left, status_of_training
from .http.libraries import check_libraries

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
"""Only this machine reads the page, so that it needs no token."""


@contextmanager
def status_page(port: int) -> Iterator[Publish | None]:
    """Serve the page on the port meanwhile; yield what is to be told how training stands. With port 0, yield None.

    Raise FlagError if the port cannot be listened on, and ClusterError if libraries are missing.
    """
    if not port:
        yield None
        return
    check_libraries("--status_port")
    from .http.server import ApplicationServer
    from .http.views import status_application

    status = RunStatus()
    with ApplicationServer(status_application(status.tell), _listening(port)):
        logger.info("Status page at http://localhost:%d", port)
        yield status.publish


class RunStatus:
    """The status of a run on this machine; one thread publishes it, and any may ask for it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Measure the time left with `clock`, in seconds."""
        self._clock = clock
        self._opened: tuple[float, int] | None = None
        self._newest: tuple[Snapshot, float] | None = None  # replaced as a whole: a thread reads the old or the new one

    def publish(self, snapshot: Snapshot, utterances_per_second: float) -> None:
        """Take note of how training stands."""
        if self._opened is None:
            self._opened = (self._clock(), snapshot.batches_left)
        self._newest = (snapshot, utterances_per_second)

    def tell(self) -> dict[str, Any]:
        """Return the status as a value for JSON; docs/training.md and docs/cluster.md explain its fields."""
        newest = self._newest
        snapshot, rate = newest if newest is not None else (None, 0.0)
        return {
            "phase": "preparing" if snapshot is None else phase_of_training(snapshot),
            "reason": None,
            **status_of_training(snapshot, snapshot.state.history if snapshot else ()),
            "seconds_left": seconds_left(self._opened, snapshot, self._clock()),
            "utterances_per_second": round(rate, 2),
        }


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        advice = "another program listens there; choose another port" if taken else "choose another port"
        raise FlagError(f"--status_port={port}: the page cannot be served ({error.strerror}); {advice}") from error
