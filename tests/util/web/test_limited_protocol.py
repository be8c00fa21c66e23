"""Requests over one connection: several at once, and those that offer a protocol that is not spoken."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from deepspeech.util.web.limited_protocol import MOST_UNANSWERED, PIECE_BYTES, LimitedProtocol

HELD = threading.Event()
"""Set when requests of /held may be answered."""
LEFT = threading.Event()
"""Set when a request of /left has been told that its client has left."""


class Protocol(LimitedProtocol):
    slowest_request = 120.0
    largest_head = 1 << 16

    def refusal(self, status: int, message: str) -> bytes:
        return f"{status} {message}".encode()


async def lengths_of_bodies(scope: Scope, receive: Receive, send: Send) -> None:
    body = b"" if scope["path"] == "/unread" else await Request(scope, receive).body()
    while scope["path"] == "/held" and not HELD.is_set():
        await asyncio.sleep(0.01)
    while scope["path"] == "/left" and not LEFT.is_set():
        if (await receive())["type"] == "http.disconnect":
            LEFT.set()
    await PlainTextResponse(str(len(body)))(scope, receive, send)


@pytest.fixture(scope="module")
def server() -> Iterator[uvicorn.Server]:
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(lengths_of_bodies, http=Protocol, lifespan="off", log_config=None, log_level="critical")
    started = uvicorn.Server(config)
    started.config.port = listening.getsockname()[1]
    thread = threading.Thread(target=started.run, kwargs={"sockets": [listening]})
    thread.start()
    until(lambda: started.started)
    yield started
    started.should_exit = True
    thread.join()


def until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)


def pipelined(server: uvicorn.Server) -> list[Protocol]:
    """Return the connections of which a request waits until one before it is answered."""
    return [each for each in tuple(server.server_state.connections) if isinstance(each, Protocol) and each.pipeline]


@contextmanager
def connected(server: uvicorn.Server) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.config.port), 60) as connection:
        yield connection


def answers(connection: socket.socket) -> list[int]:
    """Return the statuses that are answered until the connection is closed."""
    said = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(10_000):
            said += piece
    return [int(status) for status in re.findall(rb"HTTP/1.1 (\d+)", said)]


def request(path: str, *headers: str, body: bytes = b"") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def test_requests_that_come_at_once_are_answered_one_after_the_other(server: uvicorn.Server) -> None:
    long = f"X: {'x' * 40_000}"
    with connected(server) as connection:
        connection.sendall(request("/", long) * 9 + request("/", long, "Connection: close"))
        assert answers(connection) == [200] * 10


def test_of_many_requests_at_once_few_are_parsed_before_they_can_be_answered(
    server: uvicorn.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = []

    def parsed(protocol: Protocol) -> None:
        LimitedProtocol.on_headers_complete(protocol)
        waiting.append(len(protocol.pipeline))

    monkeypatch.setattr(Protocol, "on_headers_complete", parsed, raising=False)
    HELD.clear()
    with connected(server) as connection:
        sent = request("/held") + request("/") * 6000 + request("/", "Connection: close")
        sending = threading.Thread(target=connection.sendall, args=(sent,))
        sending.start()
        until(lambda: bool(pipelined(server)))
        HELD.set()
        assert answers(connection) == [200] * 6002
        sending.join()
    assert max(waiting) < MOST_UNANSWERED + PIECE_BYTES / len(request("/"))


def test_a_request_is_told_that_its_client_has_left_although_another_waits(server: uvicorn.Server) -> None:
    LEFT.clear()
    with connected(server) as connection:
        connection.sendall(request("/left") + request("/"))
        until(lambda: bool(pipelined(server)))
    assert LEFT.wait(60)


def test_a_head_that_is_too_large_is_refused_once_those_before_are_answered(server: uvicorn.Server) -> None:
    with connected(server) as connection:
        connection.sendall(request("/") * 3 + request("/", f"X: {'x' * 800_000}"))
        assert answers(connection) == [200] * 3 + [431]


def test_a_request_that_is_too_slow_is_told_the_time_it_may_take(
    server: uvicorn.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Protocol, "slowest_request", 0.25)
    with connected(server) as connection:
        connection.sendall(request("/", body=b"body")[:-1])
        assert b"408 a request may take 0.25 s at most" in connection.makefile("rb").read()


def test_a_request_is_not_too_slow_while_those_before_it_are_unanswered(server: uvicorn.Server) -> None:
    HELD.clear()
    with connected(server) as connection:
        sent = request("/held") + request("/", "Connection: close", body=bytes(8 << 20))
        sending = threading.Thread(target=connection.sendall, args=(sent,))
        sending.start()
        until(lambda: bool(pipelined(server)))
        (protocol,) = pipelined(server)
        protocol.loop.call_soon_threadsafe(protocol._refuse_slow_request)  # as its timer would
        protocol.loop.call_soon_threadsafe(HELD.set)
        assert answers(connection) == [200, 200]
        sending.join()


def test_a_client_that_reads_only_once_its_request_is_sent_gets_an_early_answer_before_its_last_request_ends(
    server: uvicorn.Server,
) -> None:
    with connected(server) as connection:
        connection.sendall(request("/unread", "Connection: close", body=bytes(8 << 20)))
        assert answers(connection) == [200]


@pytest.mark.parametrize("headers", [(), ("Connection: close",)])
def test_a_request_that_is_answered_and_never_ends_is_cut_without_another_answer(
    server: uvicorn.Server, monkeypatch: pytest.MonkeyPatch, headers: tuple[str, ...]
) -> None:
    monkeypatch.setattr(Protocol, "slowest_request", 0.25)
    with connected(server) as connection:
        connection.sendall(request("/unread", *headers, body=b"body")[:-1])
        assert answers(connection) == [200]
        until(lambda: not server.server_state.connections)


def test_a_request_that_offers_http_2_is_answered_as_one_that_does_not(server: uvicorn.Server) -> None:
    offer = {"connection": "Upgrade, HTTP2-Settings", "upgrade": "h2c", "http2-settings": "AAMAAABkAARAAAAAAAIAAAAA"}
    body = b"GET / HTTP/1.1\r\n\r\n"
    with closing(HTTPConnection("127.0.0.1", server.config.port, timeout=60)) as connection:
        for headers in (offer, {}, {**offer, "transfer-encoding": "chunked"}, offer):
            connection.request("POST", "/", body, headers, encode_chunked="transfer-encoding" in headers)
            assert connection.getresponse().read() == str(len(body)).encode()


def test_any_number_of_requests_may_offer_another_protocol_at_once(server: uvicorn.Server) -> None:
    offer = request("/", "Connection: Upgrade", "Upgrade: h2c", body=b"body")
    with connected(server) as connection:
        connection.sendall(offer * 1500 + request("/", "Connection: close"))
        assert answers(connection) == [200] * 1501
