"""What those tell who connect to a worker that waits for its neighbour in the ring."""

import selectors
import socket
from contextlib import suppress

MOST_GREETINGS = 64
"""Connections that may be silent at once; a further one has the oldest closed."""


class Greetings:
    """Hears what those tell who connect, all at once, so that nobody who is silent holds up the others.

    A context manager: at its end, those are turned away who have not told the ring's key.
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
        """Return a connection that has told the key, or the one to the next process if something came from there."""
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
        with suppress(OSError):
            caller, _ = self._listener.accept()
            caller.setblocking(False)
            self._told[caller] = b""
            self._selector.register(caller, selectors.EVENT_READ)
        if len(self._told) > MOST_GREETINGS:
            self._forget(next(iter(self._told))).close()

    def _has_told_key(self, caller: socket.socket) -> bool:
        """Hear more of a greeting; return whether it is the key, and turn the caller away if it cannot become that."""
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
