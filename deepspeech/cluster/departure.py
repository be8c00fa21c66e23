"""How a worker that is told to stop leaves: at once, even if its step lasts."""

import threading

from .http.client import Membership
from .monitoring.node_record import NodeRecord, NodeState
from .node import GRACE_SECONDS, end_hard_later

FINISHING_SECONDS = 0.3
"""Seconds that a worker has to finish its step after a signal, before its jobs go to others."""

LEFT = "interrupted; the other workers go on without this one"


class Departure:
    """Leaves the cluster for a worker after a signal, whatever its step does.

    Its jobs go to other workers then, and a gradient that may have been sent is discarded with its round. So a
    scheduler can take the machine away at any time after that.
    """

    def __init__(self, record: NodeRecord) -> None:
        """Begin without a membership; the node's record says when it ends."""
        self._record = record
        self._membership: Membership | None = None

    def joined(self, membership: Membership) -> None:
        """Take the membership that is to be ended."""
        self._membership = membership

    def begin(self, signal_number: int) -> None:
        """Leave soon on a thread of its own, and end the process if it does not end by itself after that."""
        self._record.state = NodeState.ENDING
        leaving = threading.Timer(FINISHING_SECONDS, self._leave, (signal_number,))
        leaving.daemon = True
        leaving.start()

    def _leave(self, signal_number: int) -> None:
        end_hard_later(LEFT, GRACE_SECONDS, 128 + signal_number)
        if self._membership is not None:
            self._membership.leave()
