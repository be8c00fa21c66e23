"""Which WebSockets are accepted; those of `/v1/stream`, with which model and rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Protocol
from urllib.parse import parse_qs

from starlette.types import Receive, Scope, Send

from ..access import SUBPROTOCOL, refuse
from ..errors import RefusedError, failed
from ..models import LoadedModel
from ..service import Service
from ..utterances import HIGHEST_RATE, LOWEST_RATE
from .connection import LiveConnection
from .protocol import Start, listed

PATH = "/v1/stream"

TAKEN = ("model", "rate", "token")
"""The parameters of the query; the token has been checked before."""


Query = Mapping[str, Sequence[str]]
"""The values of each parameter of a query."""


class Connection(Protocol):
    """A client whose WebSocket is accepted."""

    async def serve(self) -> None:
        """Serve the client until the connection ends."""


class WebSocketEndpoint:
    """Answers requests for a WebSocket, which takes the place of a live stream."""

    def __init__(self, service: Service, connection_of: Callable[[Service, Query, Receive, Send], Connection]) -> None:
        """`connection_of` returns the connection that a query asks for, or raises RefusedError."""
        self._service = service
        self._connection_of = connection_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection to its end, or refuse it before it is accepted."""
        await receive()  # the request
        try:
            query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            with self._service.stream():
                connection = self._connection_of(self._service, query, receive, send)
                subprotocol = SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", ()) else None
                await send({"type": "websocket.accept", "subprotocol": subprotocol})
                await connection.serve()
        except OSError:  # the client is gone
            return
        except Exception as error:
            refused = error if isinstance(error, RefusedError) else failed("a live stream", error)
            self._service.metrics.refused.labels(refused.code).inc()
            await refuse(scope, send, refused)


def live_connection(service: Service, query: Query, receive: Receive, send: Send) -> LiveConnection:
    """Return a connection of `/v1/stream`; raise RefusedError if the query asks for what is not available."""
    connection = LiveConnection(service, *_queried(query, service), receive, send)
    if ignored := [name for name in query if name not in TAKEN]:
        connection.warn("query_ignored", _told_of(ignored))
    return connection


def _queried(query: Query, service: Service) -> tuple[LoadedModel, int]:
    """Return the model and the rate that a query asks for; raise RefusedError if they are not available."""
    loaded = service.models.streaming(query.get("model", [""])[0] or None)
    text = query.get("rate", [""])[0] or str(loaded.model.sampleRate())
    rate = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
    if not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise RefusedError(400, "wrong_rate", f"The rate must be a number from {LOWEST_RATE} to {HIGHEST_RATE}", "rate")
    return loaded, rate


def _told_of(ignored: Sequence[str]) -> str:
    of_start = ", ".join(field.name for field in fields(Start))
    return f"these parameters have no effect: {listed(ignored)}; the message start takes {of_start}"
