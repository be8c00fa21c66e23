"""Authenticates the connections to a worker that waits for its neighbour in the ring."""

import selectors
import socket
import time
from contextlib import suppress

MOST_GREETINGS = 64
"""Most connections that may be silent at once; one more closes the oldest."""

RELIEF_SECONDS = 0.1
"""Seconds until the next try to accept when the process has no descriptor left."""


class Greetings:
    """Reads the ring's key from all connections at once, so that a silent connection does not hold up the others.

    A context manager: its end closes the connections that have not sent the key.
    """

    def __init__(self, listener: socket.socket, to_next: socket.socket, key: bytes) -> None:
        self._listener = listener
        self._to_next = to_next
        self._key = key
        self._told: dict[socket.socket, bytes] = {}
        self._selector = selectors.DefaultSelector()
        for each in (listener, to_next):
            self._selector.register(each, selectors.EVENT_READ)

    def __enter__(self) -> "Greetings":
        return self

    def __exit__(self, *_: object) -> None:
        for caller in list(self._told):
            self._forget(caller).close()
        self._selector.close()

    def heard(self, seconds: float) -> socket.socket | None:
        """Return a connection that has sent the key, or `to_next` if it is readable; else None, within `seconds`."""
        for ready in [found.fileobj for found, _ in self._selector.select(seconds)]:
            assert isinstance(ready, socket.socket)
            if ready is self._to_next:
                return ready
            if ready is self._listener:
                self._accept()
            elif ready in self._told and self._has_told_key(ready):
                return self._forget(ready)
        return None

    def _accept(self) -> None:
        try:
            caller, _ = self._listener.accept()
        except OSError:  # no descriptor is left; the caller stays ready
            time.sleep(RELIEF_SECONDS)
            return
        caller.setblocking(False)
        self._told[caller] = b""
        self._selector.register(caller, selectors.EVENT_READ)
        if len(self._told) > MOST_GREETINGS:
            self._forget(next(iter(self._told))).close()

    def _has_told_key(self, caller: socket.socket) -> bool:
        """Read more of a greeting; return whether it is the complete key, and close the connection if it is wrong."""
        more = b""
        with suppress(OSError):
            more = caller.recv(len(self._key) - len(self._told[caller]))
        self._told[caller] += more
        if self._told[caller] == self._key:
            return True
        if not more or len(self._told[caller]) == len(self._key):
            self._forget(caller).close()
        return False

    def _forget(self, caller: socket.socket) -> socket.socket:
        del self._told[caller]
        self._selector.unregister(caller)
        return caller
