"""Limits of requests and connections: slow requests, large heads and connections above the limit are refused.

The server library limits the time of an idle connection, but neither the time for a request to arrive nor the number
of connections.
"""

import asyncio
import sys
from collections.abc import Sequence
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .connections import ConnectionLimits

TOO_SLOW = 408
HEAD_TOO_LARGE = 431
TOO_MANY = 503

RETRY_SECONDS = 2
"""Seconds after which a client may retry when its connection exceeded the limit."""

LAST_SECONDS = 1.0
"""Seconds for a client above the limit to send its request, and again to read why it is refused.

Clients expect no answer before their request, and a connection that is closed before its request is read is reset."""

REFUSED_SHARE = 16
"""One in this many of the allowed connections may exist in addition, to receive the reason for the refusal."""

MOST_UNANSWERED = 100
"""Requests of a connection that wait for their answers, from which on what arrives is not parsed."""

PIECE_BYTES = 1 << 14
"""Bytes that are parsed at a time."""


class HeldFlow(FlowControl):
    """Pauses and resumes the reading of a connection, but does not resume it while it is `held`."""

    held = False

    def resume_reading(self) -> None:
        """Read on, unless held."""
        if not self.held:
            super().resume_reading()


class LimitedProtocol(HttpToolsProtocol):
    """HTTP over one connection.

    It is closed when a request is too slow (408), its head is too large (431) or there are too many connections (503).
    While too many requests wait for their answers, nothing is read: the library would read on after each answer.
    A server derives its own protocol, with its limits and its form of answers.
    """

    slowest_request: float
    """The most seconds for a request to arrive, and for a new connection to send its first byte."""
    largest_head: int
    """The most bytes of a request's line and headers."""
    flow: HeldFlow
    limits: ConnectionLimits | None = None
    """The limits of the server's connections; None: no limit."""

    _timer: asyncio.TimerHandle | None = None
    _head_bytes: int | None = 0  # received of the head that is not complete
    _piece = b""  # what is parsed now
    _rest = b""  # and what is to be parsed after it
    _backlog = b""  # what is parsed once fewer requests wait for their answers
    _follows = False  # whether what arrives now holds the end of another request
    _one_too_many = False
    _refused = False
    _refusal_due: tuple[int, str] | None = None  # once what came before is answered
    _unanswered: Sequence[Any] = ()  # requests, of which all but the oldest wait
    _ended = False  # answered for the last time, while that request may still be arriving

    def refusal(self, status: int, message: str) -> bytes:
        """Return the JSON with the reason why a request is refused."""
        raise NotImplementedError

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the first request, unless there are too many connections."""
        super().connection_made(transport)
        self.flow = HeldFlow(transport)
        self._one_too_many = self._is_one_too_many()
        if not self._one_too_many:
            self._start_timer()
        elif self._has_room():
            self._timer = self.loop.call_later(LAST_SECONDS, self._refuse_connection)
        else:
            self._refuse_connection()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer, and tell each request that is not answered; the library tells the newest alone."""
        self._stop_timer()
        super().connection_lost(exc)
        for cycle in self._unanswered:
            cycle.disconnected = True
            cycle.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Take a piece of a request, and refuse a head that is too large."""
        if self._one_too_many:
            self._refuse_connection()
        self._backlog += data
        self._parse_backlog()

    def _parse_backlog(self) -> None:
        while self._backlog and len(self._unanswered) < MOST_UNANSWERED:
            piece, self._backlog = self._backlog[:PIECE_BYTES], self._backlog[PIECE_BYTES:]
            self._parse(piece)
            if self._refused or self._refusal_due is not None or self.transport.is_closing():
                self._backlog = b""
        self.flow.held = bool(self._backlog)
        if self._backlog:
            self.flow.pause_reading()

    def _parse(self, data: bytes) -> None:
        if self._refused or self._refusal_due is not None:
            return
        self._follows = False
        self._piece = data
        while self._piece:
            self._rest = b""
            super().data_received(self._piece)
            self._piece = self._rest
        if self._head_bytes is not None and not self._follows:  # else it may be as little as a byte of these
            self._head_bytes += len(data)
            if self._head_bytes > self.largest_head:
                self._refuse(HEAD_TOO_LARGE, f"over {self.largest_head} bytes of headers")

    def on_message_begin(self) -> None:
        """Start the timer of a request: its first byte has arrived."""
        super().on_message_begin()
        self._head_bytes = 0
        self._start_timer()

    def on_headers_complete(self) -> None:
        """Count no further bytes of the head: it has arrived."""
        self._head_bytes = None
        if not self._offers_other_protocol():
            super().on_headers_complete()
            if self.cycle is not None:  # as it is before an upgrade to WebSocket
                self._unanswered = [*self._unanswered, self.cycle]
                self._close_after_request()

    def on_message_complete(self) -> None:
        """Stop the timer: a request has arrived completely."""
        self._stop_timer()
        self._follows = True
        if not self._offers_other_protocol():
            super().on_message_complete()
        if self._ended:
            self.transport.close()

    def on_response_complete(self) -> None:
        """Go on with the request that follows, which may be one to refuse."""
        super().on_response_complete()
        self._unanswered = [each for each in self._unanswered if not each.response_complete]
        if self.flow.held:
            self._parse_backlog()
            self.flow.resume_reading()
        if self._refusal_due is not None and not self._owes_answers():
            self._refuse(*self._refusal_due)

    def handle_websocket_upgrade(self) -> None:
        """Stop the timer, and parse nothing more: no request follows."""
        self._stop_timer()
        self._backlog = b""
        super().handle_websocket_upgrade()

    def _close_after_request(self) -> None:
        """Let the newest request's answer close the connection only once that request has arrived completely.

        A client that sends its request first, and reads then, would otherwise find a connection that is reset.
        """
        cycle: Any = self.cycle
        transport = cycle.transport

        def close() -> None:
            if not cycle.more_body:
                transport.close()
            elif not self._ended:
                self._ended = True
                if transport.can_write_eof():  # with TLS it can't
                    transport.write_eof()

        cycle.transport = SimpleNamespace(write=transport.write, is_closing=transport.is_closing, close=close)

    def _offers_other_protocol(self) -> bool:
        """Return whether a request could go on in a protocol that is not spoken here, as Java's offer HTTP/2."""
        offers = self.parser.should_upgrade() and b"upgrade" in dict(self.headers)
        return offers and not self._should_upgrade()

    def _unsupported_upgrade_warning(self) -> None:
        """Take a request that offers another protocol for one that does not: the parser takes its body for that one."""
        upgrade = sys.exc_info()[1]
        if not (isinstance(upgrade, httptools.HttpParserUpgrade) and self._offers_other_protocol()):
            return
        version = self.parser.get_http_version().encode()
        head = [b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, version)]
        head += [b"%b: %b\r\n" % header for header in self.headers if header[0] != b"upgrade"]
        self._rest = b"".join([*head, b"\r\n", self._piece[upgrade.args[0] :]])

    def _is_one_too_many(self) -> bool:
        if self.limits is None:
            return False
        there: set[Any] = self.connections  # includes this one
        if len(there) > self.limits.in_all:
            return True
        host = self.client and self.client[0]
        if len(there) <= self.limits.by_address:
            return False
        of_host = [each for each in there if (each.client and each.client[0]) == host]
        return len(of_host) > self.limits.by_address

    def _start_timer(self) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(self.slowest_request, self._refuse_slow_request)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse_slow_request(self) -> None:
        if self._owes_answers():  # until then, what follows may be left unread
            self._start_timer()
            return
        self._refuse(TOO_SLOW, f"a request may take {self.slowest_request:g} s at most")

    def _refuse_connection(self) -> None:
        self._refuse(TOO_MANY, "too many connections; try again later")

    def _owes_answers(self) -> bool:
        """Return whether requests that came before the one that is arriving are still to be answered."""
        cycle: Any = self.cycle
        is_of_earlier = self._head_bytes is not None and cycle is not None
        return bool(self.pipeline) or (is_of_earlier and not cycle.response_complete)

    def _refuse(self, status: int, message: str) -> None:
        """Close the connection, once all before is answered, saying why unless an answer is on its way already."""
        cycle: Any = self.cycle
        if self._head_bytes is None and cycle is not None and cycle.response_complete:
            self.transport.close()  # the request that is still arriving has its answer
        if self.transport.is_closing() or self._refused:
            return
        if self._owes_answers():
            self._refusal_due = (status, message)
            return
        self._refused = True
        self._stop_timer()
        if cycle is None or cycle.response_complete or not cycle.response_started:
            body = self.refusal(status, message)
            retry = f"retry-after: {RETRY_SECONDS}\r\n" if status == TOO_MANY else ""
            head = (
                f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{retry}"
                f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
            if self.transport.can_write_eof() and self._has_room():  # with TLS it can't
                self.transport.write_eof()
                self._timer = self.loop.call_later(LAST_SECONDS, self.transport.close)
                return
        self.transport.close()

    def _has_room(self) -> bool:
        """Return whether the connection may stay open until the client has received the reason."""
        return self.limits is None or is_room_to_refuse(len(self.connections), self.limits.in_all)


def is_room_to_refuse(connections: int, most: int) -> bool:
    """Return whether a connection above the limit `most` may stay open to receive the reason for its refusal."""
    return connections <= most * (1 + 1 / REFUSED_SHARE)
