"""`/v1/stream`: which connections are accepted, and with which model and rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
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


class LiveEndpoint:
    """Answers requests for a live stream."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection to its end, or refuse it before it is accepted."""
        await receive()  # the request
        try:
            query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            loaded, rate = _queried(query, self._service)
            with self._service.stream():
                connection = LiveConnection(self._service, loaded, rate, receive, send)
                subprotocol = SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", ()) else None
                await send({"type": "websocket.accept", "subprotocol": subprotocol})
                if ignored := [name for name in query if name not in TAKEN]:
                    connection.warn("query_ignored", _told_of(ignored))
                await connection.serve()
        except OSError:  # the client is gone
            return
        except Exception as error:
            refused = error if isinstance(error, RefusedError) else failed("a live stream", error)
            self._service.metrics.refused.labels(refused.code).inc()
            await refuse(scope, send, refused)


def _queried(query: Mapping[str, Sequence[str]], service: Service) -> tuple[LoadedModel, int]:
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
