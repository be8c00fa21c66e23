"""How a worker leaves when it is told to stop: at once, even during a long step."""

import threading

from .http.client import Membership
from .monitoring.node_record import NodeRecord, NodeState
from .node import GRACE_SECONDS, end_hard_later

FINISHING_SECONDS = 0.3
"""Seconds that a worker has after a signal to finish its step, before other workers get its jobs."""

LEFT = "interrupted; the other workers go on without this one"


class Departure:
    """Makes a worker leave the cluster after a signal, even if its step has not returned.

    Other workers then get its jobs. A gradient that it may have sent is discarded with its round. After that, a
    scheduler can take the machine away at any time.
    """

    def __init__(self, record: NodeRecord) -> None:
        """Begin without a membership; `record` gets the state ENDING after a signal."""
        self._record = record
        self._membership: Membership | None = None

    def joined(self, membership: Membership) -> None:
        """Set the membership to end."""
        self._membership = membership

    def begin(self, signal_number: int) -> None:
        """Leave after FINISHING_SECONDS, on a separate thread; kill the process if it does not end by itself then."""
        self._record.state = NodeState.ENDING
        leaving = threading.Timer(FINISHING_SECONDS, self._leave, (signal_number,))
        leaving.daemon = True
        leaving.start()

    def _leave(self, signal_number: int) -> None:
        end_hard_later(LEFT, GRACE_SECONDS, 128 + signal_number)
        if self._membership is not None:
            self._membership.leave()
