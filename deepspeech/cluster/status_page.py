"""The status page of training on one machine: a cluster's page without members and jobs. It needs no TensorFlow."""

import errno
import logging
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import FlagError
from ..schedule.snapshot import Publish, Snapshot
from ..util.monitoring.time_use import shares
from ..util.web.listening import listen
from .coordination.status import phase_of_training, seconds_left, status_of_training
from .http.libraries import check_libraries
from .monitoring.node_record import NodeRecord

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
"""Only this machine can read the page, so it needs no token."""


@contextmanager
def status_page(port: int, record: NodeRecord | None = None) -> Iterator[Publish | None]:
    """Serve the page on the port inside the context; yield the function that publishes the state of training.

    With port 0, yield None and serve nothing. The page shows the time use from the record.

    Raise FlagError if the server cannot listen on the port, and ClusterError if libraries are missing.
    """
    if not port:
        yield None
        return
    check_libraries("--status_port")
    from .http.server import ApplicationServer
    from .http.views import status_application

    status = RunStatus(record=record)
    with ApplicationServer(status_application(status.tell), _listening(port)):
        logger.info("Status page at http://localhost:%d", port)
        yield status.publish


class RunStatus:
    """The status of a run on this machine; one thread publishes it, and any thread may read it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, record: NodeRecord | None = None) -> None:
        """Measure the time left with `clock`, in seconds; `record` has the time use."""
        self._clock = clock
        self._record = record
        self._opened: tuple[float, int] | None = None
        # Replaced as a whole: a thread reads the old or the new one.
        self._newest: tuple[Snapshot, float, float | None] | None = None

    def publish(self, snapshot: Snapshot, utterances_per_second: float, checkpoint_at: float | None = None, /) -> None:
        """Set the state of training, and the time when the newest checkpoint was saved."""
        if self._opened is None:
            self._opened = (self._clock(), snapshot.batches_left)
        self._newest = (snapshot, utterances_per_second, checkpoint_at)
        if self._record is not None:
            self._record.report_if_due()  # the report itself is unused; later ones measure the last minute from it

    def tell(self) -> dict[str, Any]:
        """Return the status as a value for JSON; docs/training.md and docs/cluster.md explain its fields."""
        newest = self._newest
        snapshot, rate, saved = newest if newest is not None else (None, 0.0, None)
        return {
            "phase": "preparing" if snapshot is None else phase_of_training(snapshot),
            "reason": None,
            **status_of_training(snapshot, snapshot.state.history if snapshot else ()),
            "seconds_left": seconds_left(self._opened, snapshot, self._clock()),
            "utterances_per_second": round(rate, 2),
            "checkpoint_age": None if saved is None else round(max(self._clock() - saved, 0.0), 2),
            "time": shares(self._record.recent().seconds) if self._record is not None else None,
        }


def _listening(port: int) -> socket.socket:
    try:
        return listen(HOST, port)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        advice = "another program listens there; choose another port" if taken else "choose another port"
        raise FlagError(f"--status_port={port}: the page cannot be served ({error.strerror}); {advice}") from error
