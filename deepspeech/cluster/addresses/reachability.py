"""Whether this machine can connect to the parameter servers at all.

TensorFlow waits without a word for a server behind a firewall, or at an address that is wrong on this machine only.
"""

import logging
import os
from collections.abc import Sequence

from ...errors import ClusterError
from ...util.monitoring.waiting import Waiting
from .connecting import connect

logger = logging.getLogger(__name__)

GRPC_PROXY = "grpc_proxy"
"""The environment variable of a proxy for connections between TensorFlow's servers alone."""

CONNECT_SECONDS = 2.0
"""Seconds that connecting to a server may take."""


class ServersReached:
    """Looks again and again whether the parameter servers, all of which have joined, accept connections.

    After the first time that all of them did, it looks no more.
    """

    def __init__(self, addresses: Sequence[str], patience: float) -> None:
        """Remember the addresses, as HOST:PORT; look for `patience` seconds from the first failure.

        With gRPC's own proxy, which may reach what this machine does not, no connection is tried.
        """
        self._addresses = () if os.environ.get(GRPC_PROXY) else tuple(addresses)
        self._patience = patience
        self._waiting: Waiting | None = None

    def look(self) -> bool:
        """Return whether all servers accept connections. Raise ClusterError when the patience is over."""
        for task, address in enumerate(self._addresses):
            reason = _why_unreachable(address)
            if reason:
                self._note(f"parameter server {task} has joined, but {address} cannot be reached from here ({reason})")
                return False
        self._addresses = ()
        return True

    def _note(self, trouble: str) -> None:
        if self._waiting is None:
            self._waiting = Waiting()
            logger.warning("%s", trouble[0].upper() + trouble[1:])
        if self._waiting.seconds() >= self._patience:
            raise ClusterError(f"{trouble}; is this its address, and does the firewall allow connections to its port?")


def _why_unreachable(address: str) -> str:
    """Return why connecting to HOST:PORT fails, or nothing if it is possible."""
    try:
        connect(address, CONNECT_SECONDS).close()
    except OSError as error:
        return error.strerror or str(error)
    return ""
