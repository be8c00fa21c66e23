"""A server in a thread of the tests, and clients that send it bytes of their choice."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile
from hypothesis import strategies as st
from websockets.asyncio.client import connect as encrypted
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from deepspeech.serving.server.models import Models
from deepspeech.serving.server.options import Limits, ServedModel, ServerOptions
from deepspeech.serving.server.running import RecognitionServer

PATIENCE = 120.0
MESSAGE = 640
"""Bytes of 20 ms at 16 kHz."""

Samples = npt.NDArray[np.int16]

JSON_TEXTS = st.text(st.characters(), max_size=5)
"""Includes halves of characters, which JSON can escape and UTF-8 cannot encode."""
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from([10**400, -(10**400)]) | JSON_TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(JSON_TEXTS, inner, max_size=3),
    max_leaves=5,
)


@dataclass(frozen=True)
class Served:
    """A server that answers on a port of this machine."""

    server: RecognitionServer
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        assert self.server.loop is not None
        return self.server.loop

    def get(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
        """Return the status, the headers and the body of the answer to a request."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, headers={name.replace("_", "-"): each for name, each in headers.items()})
            answer = connection.getresponse()
            headers = {name.lower(): each for name, each in answer.getheaders()}
            return answer.status, headers, answer.read().decode()
        finally:
            connection.close()

    def figure(self, name: str) -> float:
        """Return the value of one of the server's metrics."""
        lines = self.get("/metrics")[2].splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(f"deepspeech_server_{name}"))

    def stream(self, query: str = "rate=16000", **options: Any) -> AbstractContextManager[ClientConnection]:
        """Connect to the live stream within the context."""
        url = f"ws://127.0.0.1:{self.port}/v1/stream?{query}"
        connected: AbstractContextManager[ClientConnection]
        connected = connect(url, open_timeout=PATIENCE, close_timeout=PATIENCE, **options)
        return connected


@contextmanager
def serving(models: Models, limits: Limits | None = None, **options: Any) -> Iterator[Served]:
    """Serve models within the context, with these options."""
    listening = socket.create_server(("127.0.0.1", options.get("port", 0)))
    server = RecognitionServer(ServerOptions((), limits=limits or Limits(), **options), models)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        until(lambda: server.started)
        yield Served(server, listening.getsockname()[1])
    finally:
        server.drain()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def loaded(graph: Path, scorer: Path | None = None) -> Models:
    return Models([ServedModel("tiny", graph), ServedModel("scored", graph, scorer)])


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def samples_of(path: Path) -> Samples:
    read: Samples = soundfile.read(path, dtype="int16")[0]
    return read


def say(stream: ClientConnection, samples: Samples) -> None:
    """Send audio in messages of 20 ms, as fast as the server reads, until all is sent or the server ends the stream.

    What the server said before its end can be read afterwards.
    """
    audio = samples.astype("<i2").tobytes()
    with suppress(ConnectionClosed):
        for start in range(0, len(audio), MESSAGE):
            stream.send(audio[start : start + MESSAGE])


def tell(stream: ClientConnection, kind: str, **fields: Any) -> None:
    stream.send(json.dumps({"type": kind, **fields}))


def told(stream: ClientConnection) -> dict[str, Any]:
    """Return the next message."""
    message: dict[str, Any] = json.loads(stream.recv(timeout=PATIENCE))
    return message


def told_first(address: str, context: ssl.SSLContext) -> dict[str, Any]:
    """Return the first message of an encrypted stream.

    The client is asyncio's, as the other one reads and writes from two threads, which Python's SSL sockets do not bear:
    one connection in some hundreds hangs.
    """

    async def received() -> str | bytes:
        async with encrypted(address, ssl=context, open_timeout=PATIENCE) as stream:
            return await asyncio.wait_for(stream.recv(), PATIENCE)

    message: dict[str, Any] = json.loads(asyncio.run(received()))
    return message


def vanishing(served: Served, samples: Samples, *, reset: bool) -> None:
    """Connect, send a message of audio, and disappear without closing, like a killed process or a lost network."""
    audio = samples.astype("<i2").tobytes()
    with connected(served) as connection:
        connection.sendall(struct.pack(">BBHI", 0x82, 0xFE, len(audio), 0) + audio)  # masked with zeros
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@contextmanager
def connected(served: Served) -> Iterator[socket.socket]:
    """Open a live stream whose frames the test then writes byte by byte."""
    key = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + "A" * 22
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE) as connection:
        connection.sendall(f"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n{key}==\r\n\r\n".encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 101")
        yield connection


def rest(stream: ClientConnection) -> list[dict[str, Any]]:
    """Return all messages up to the end of the connection."""
    messages = []
    with suppress(ConnectionClosed):
        while True:
            messages.append(told(stream))
    return messages


def final(stream: ClientConnection) -> dict[str, Any]:
    """Return the next final."""
    while (message := told(stream))["type"] != "final":
        assert message["type"] in ("ready", "partial"), message
    return message


def of_kind(messages: Sequence[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [message for message in messages if message["type"] == kind]
