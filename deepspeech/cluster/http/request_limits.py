"""The limits of requests and connections: what arrives too slowly, has too large a head or is one too many is refused.

The server library limits how long an idle connection is kept, but neither how long a request may take to arrive nor how
many connections there are: without files left to open, TensorFlow ends the process.
"""

import asyncio
import resource
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from . import routes
from .protocol import ErrorBody

SLOWEST_REQUEST = 10.0
"""Seconds that a request may take to arrive, from its first byte; and that a new connection may take to send one."""

LARGEST_HEAD = 1 << 16
"""Bytes of a request's line and headers."""


FILES_RESERVED = 128
"""Files that the process may open besides connections: corpora, checkpoints, TensorFlow's own connections."""

FILES_WANTED = 1 << 16
"""Files that the process is allowed to open, where the system lets it."""


@dataclass(frozen=True)
class ConnectionLimits:
    """How many connections there may be at once: in all, and from one address, so that others can still connect."""

    in_all: int
    by_address: int

    @staticmethod
    def of(files: int) -> "ConnectionLimits":
        """Return the limits of a process that may open so many files."""
        in_all = max(files - FILES_RESERVED, files // 2)
        return ConnectionLimits(in_all, max(in_all * 3 // 4, 1))


def allow_more_files() -> ConnectionLimits:
    """Let this process open as many files as the system allows, FILES_WANTED at most; return what that suffices for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft not in (hard, resource.RLIM_INFINITY) and soft < FILES_WANTED:
        soft = FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, FILES_WANTED)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return ConnectionLimits.of(FILES_WANTED if soft == resource.RLIM_INFINITY else soft)


class LimitedProtocol(HttpToolsProtocol):
    """HTTP over one connection.

    It is closed when a request is too slow (408), its head too large (431) or the connection itself one too many (503).
    """

    limits: ConnectionLimits
    _timer: asyncio.TimerHandle | None = None
    _head_bytes: int | None = 0  # received of the head that is not complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time of the first request, unless there are too many connections."""
        super().connection_made(transport)
        if self._is_one_too_many():
            self._refuse(routes.TOO_MANY, "too many connections; try again later")
        else:
            self._start_timer()

    def _is_one_too_many(self) -> bool:
        there: set[Any] = self.connections  # this one is among them
        if len(there) > self.limits.in_all:
            return True
        host = self.client and self.client[0]
        if len(there) <= self.limits.by_address:
            return False
        of_host = [each for each in there if (each.client and each.client[0]) == host]
        return len(of_host) > self.limits.by_address

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a piece of a request, and refuse a head that is too large."""
        super().data_received(data)
        if self._head_bytes is not None:
            self._head_bytes += len(data)
            if self._head_bytes > LARGEST_HEAD:
                self._refuse(routes.HEAD_TOO_LARGE, f"over {LARGEST_HEAD} bytes of headers")

    def on_message_begin(self) -> None:
        """Start the time of a request: its first byte has arrived."""
        super().on_message_begin()
        self._head_bytes = 0
        self._start_timer()

    def on_headers_complete(self) -> None:
        """Count no further bytes of the head: it has arrived."""
        self._head_bytes = None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Stop the time: all of a request has arrived."""
        self._stop_timer()
        super().on_message_complete()

    def _start_timer(self) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(SLOWEST_REQUEST, self._refuse_slow_request)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse_slow_request(self) -> None:
        self._refuse(routes.TOO_SLOW, f"a request may take {SLOWEST_REQUEST:.0f} s at most")

    def _refuse(self, refusal: routes.Refusal, message: str) -> None:
        """Close the connection, saying why unless an answer is on its way already."""
        cycle: Any = self.cycle
        if self.transport.is_closing():
            return
        if cycle is None or cycle.response_complete or not cycle.response_started:
            body = ErrorBody(kind=refusal.kind, error=message).model_dump_json().encode()
            status = HTTPStatus(refusal.status)
            head = (
                f"HTTP/1.1 {status.value} {status.phrase}\r\n"
                f"content-type: {routes.JSON}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()


def limited_to(limits: ConnectionLimits) -> type[LimitedProtocol]:
    """Return the protocol with these limits."""
    return type("Protocol", (LimitedProtocol,), {"limits": limits})
