"""HTTP and WebSocket with the server's limits on connections, requests and slow readers."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Generator
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import PayloadTooBig
from websockets.frames import CloseCode
from websockets.server import ServerProtocol

from ...util.web.connections import ConnectionLimits
from ...util.web.limited_protocol import HEAD_TOO_LARGE, LAST_SECONDS, TOO_MANY, TOO_SLOW, LimitedProtocol
from .errors import RefusedError
from .options import Limits

LARGEST_HEAD = 1 << 16
"""Bytes of a request's line and headers."""

REFUSALS = {TOO_SLOW: "too_slow", HEAD_TOO_LARGE: "too_large", TOO_MANY: "server_busy"}
"""Error codes by the HTTP status with which a connection is refused."""

LARGEST_OPTION = (1 << 31) - 1
"""The largest value of a socket option."""

TOO_LARGE = "too_large"
"""The field of the message that the application receives in place of one that is too large; it is the last one."""


class StallWatch:
    """Cuts a connection if for some seconds its client does not read what is sent."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, transport: asyncio.Transport) -> None:
        """Start the timer, as the client reads too slowly."""
        self.end()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, transport.abort)

    def end(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Watched(asyncio.Protocol):
    """The common part of both protocols: the watch runs while the client reads too slowly."""

    transport: asyncio.Transport
    _stalled: StallWatch

    def connection_lost(self, exc: Exception | None) -> None:
        self._stalled.end()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        self._stalled.begin(self.transport)
        super().pause_writing()

    def resume_writing(self) -> None:
        self._stalled.end()
        super().resume_writing()


def http_protocol(most: Limits, refused: Callable[[str], None]) -> type[HttpToolsProtocol]:
    """Return HTTP with these limits; `refused` is called with the error code of each request or connection refused."""

    class BoundedHttp(_Watched, LimitedProtocol):
        slowest_request = most.request_seconds
        largest_head = LARGEST_HEAD
        limits = ConnectionLimits(in_all=most.max_connections, by_address=most.max_connections)

        def refusal(self, status: int, message: str) -> bytes:
            refused(REFUSALS[status])
            return json.dumps(RefusedError(status, REFUSALS[status], message).to_json()).encode()

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            self._stalled = StallWatch(most.slow_reader_seconds)
            super().connection_made(transport)
            _end_dead_connections(transport, most)

    return BoundedHttp


class _LeavingLargeMessages(ServerProtocol):
    """Reads nothing more after a message that is too large; the application closes the connection."""

    def fail(self, code: CloseCode | int, reason: str = "") -> None:
        if code != CloseCode.MESSAGE_TOO_BIG:
            super().fail(code, reason)
            return
        self.parser = self._unread()
        next(self.parser)

    def _unread(self) -> Generator[None, None, None]:
        while True:
            self.reader.discard()
            yield


def websocket_protocol(limits: Limits) -> type[WebSocketsSansIOProtocol]:
    """Return WebSocket with these limits."""

    class BoundedWebSocket(_Watched, WebSocketsSansIOProtocol):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self._stalled = StallWatch(limits.slow_reader_seconds)
            self.conn = _LeavingLargeMessages(max_size=self.config.ws_max_size, logger=self.logger)

        def handle_parser_exception(self) -> None:
            if not isinstance(self.conn.parser_exc, PayloadTooBig):
                super().handle_parser_exception()
                return
            self.conn.parser_exc = None
            self.handle_events()  # of the messages before it
            told: Any = {"type": "websocket.receive", TOO_LARGE: True}
            self.queue.put_nowait(told)
            self.close_timeout = LAST_SECONDS  # the client's close frame is not read

        async def send(self, message: Any) -> None:
            """Send a message of the application; raise ClientDisconnected if the client has ended the connection."""
            if self.close_sent and self.initial_response is None:
                raise ClientDisconnected
            await super().send(message)

        def on_task_complete(self, task: asyncio.Task[None]) -> None:
            super().on_task_complete(task)
            self._stalled.begin(self.transport)  # the client must read the rest in time

    return BoundedWebSocket


def _end_dead_connections(transport: asyncio.Transport, limits: Limits) -> None:
    """Let the kernel end the connection of a client that does not acknowledge what was sent."""
    connected = transport.get_extra_info("socket")
    if connected is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
        milliseconds = min(1000 * max(limits.slow_reader_seconds, 1), LARGEST_OPTION)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(milliseconds))
