"""Access control: checks the Host header, the Origin header and the token of each request."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json
import socket
from collections.abc import Iterable
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from ...util.web.origins import host_name, is_same_origin
from ...util.web.tokens import bearer_token, is_token
from .errors import RefusedError
from .options import ServerOptions
from .service import Service

OPEN_PATHS = frozenset({"/", "/healthz", "/readyz", "/openapi.json"})
"""Paths that need no token, as they reveal nothing: the page, the health checks and the API's description."""

OPEN_FOLDER = "/page/"
"""The folder of the page's files, which need no token either."""

SUBPROTOCOL = "deepspeech"
"""The WebSocket subprotocol that the server chooses if a client offers it."""

TOKEN_SUBPROTOCOL = "token."  # noqa: S105 - the prefix of one
"""Prefix of the subprotocol in which a browser sends the token, in base64url without padding."""


class Access:
    """An application that passes on permitted requests, and refuses the others before reading their bodies."""

    def __init__(self, served: ASGIApp, service: Service) -> None:
        self._served = served
        self._service = service
        self._options = service.options
        self._names = _own_names(service.options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it with 400, 401 or 403."""
        if scope["type"] in ("http", "websocket"):
            try:
                self._check(scope, Headers(scope=scope))
            except RefusedError as error:
                self._service.metrics.refused.labels(error.code).inc()
                await refuse(scope, send, error)
                return
        await self._served(scope, receive, send)

    def _check(self, scope: Scope, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1:
            raise RefusedError(400, "wrong_host", "A request needs one Host header")
        self._check_host(hosts[0])
        if (origin := headers.get("origin")) is not None:
            self._check_origin(origin, hosts[0])
        if self._options.token is not None and not self._is_open(scope):
            _check_token(scope, headers, self._options.token)

    def _check_host(self, host: str) -> None:
        """Refuse names that are not this server's: a foreign site could let its own name resolve to this machine."""
        name = (host_name(host) or "").removesuffix(".")
        if not ("*" in self._names or name in self._names or _is_numeric(name)):
            told = f"{name!r} is not a name of this server; its flag --allowed_hosts adds names"
            raise RefusedError(403, "wrong_host", told)

    def _check_origin(self, origin: str, host: str) -> None:
        """Refuse pages of other sites, except allowed ones."""
        allowed = self._options.allowed_origins
        if not (is_same_origin(origin, host) or origin in allowed or "*" in allowed):
            raise RefusedError(403, "wrong_origin", f"Pages of {origin} may not use the server")

    def _is_open(self, scope: Scope) -> bool:
        path = scope["path"]
        return scope["type"] == "http" and (path in OPEN_PATHS or path.startswith(OPEN_FOLDER))


async def refuse(scope: Scope, send: Send, error: RefusedError) -> None:
    """Answer an HTTP request or a WebSocket handshake with an error."""
    body = json.dumps(error.to_json()).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), **error.headers}
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": f"{kind}.start", "status": error.status, "headers": encoded})
    await send({"type": f"{kind}.body", "body": body})


def _check_token(scope: Scope, headers: Headers, token: str) -> None:
    """Raise RefusedError unless the Authorization header has the token, or a WebSocket's query or subprotocol does."""
    given = [bearer_token(headers.get("authorization", ""))]
    if scope["type"] == "websocket":
        given += parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        given += _decoded(scope.get("subprotocols", ()))
    if not any([is_token(each, token) for each in given]):  # noqa: C419 - checks all, in constant time
        raise RefusedError(401, "invalid_api_key", "The server's token is missing or wrong; send Authorization: Bearer")


def _decoded(subprotocols: Iterable[str]) -> list[str]:
    found = []
    for offered in subprotocols:
        if offered.startswith(TOKEN_SUBPROTOCOL):
            encoded = offered.removeprefix(TOKEN_SUBPROTOCOL)
            try:
                found.append(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode())
            except (binascii.Error, ValueError):
                continue
    return found


def _own_names(options: ServerOptions) -> frozenset[str]:
    names = {"localhost", options.host, socket.gethostname(), socket.getfqdn(), *options.allowed_hosts}
    return frozenset(name.lower() for name in names)


def _is_numeric(name: str) -> bool:
    """Return whether a name is an IP address, which no foreign name server can resolve to another one."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
