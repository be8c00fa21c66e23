"""The port on which a node answers probes and serves its metrics, `--probe_port`. It needs no TensorFlow."""

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp

from ...errors import FlagError
from ...options.monitoring import ProbeOptions
from ...util.web.connections import ConnectionLimits
from ...util.web.listening import listen
from ...util.web.probes import probe_endpoints
from ...util.web.tokens import bearer_token, is_token
from ..http import routes
from ..http.server import ApplicationServer
from ..http.views import Endpoint, pages_of, to_this_machine
from .metrics import render_node
from .node_record import NodeRecord, NodeState

LIMITS = ConnectionLimits(in_all=64, by_address=48)
"""Limits of the connections to the port, enough for a few probes and scrapers."""


@contextmanager
def served(options: ProbeOptions, record: NodeRecord, token: str | None) -> Iterator[int]:
    """Answer probes inside the context; yield the port. /metrics needs the token or, without one, a local client."""
    with ApplicationServer(_application(record, token), _listening(options), LIMITS) as server:
        yield server.port


def _application(record: NodeRecord, token: str | None) -> ASGIApp:
    async def metrics(_: Request) -> Response:
        text, content_type = render_node(record)
        return Response(text, media_type=content_type)

    shown = probe_endpoints(lambda: None if record.state is NodeState.READY else record.state.value)
    checked = to_this_machine(metrics) if token is None else _with_token(metrics, token)
    return pages_of({**shown, routes.METRICS.path: checked})


def _with_token(show: Endpoint, token: str) -> Endpoint:
    async def shown(request: Request) -> Response:
        if is_token(bearer_token(request.headers.get("authorization", "")), token):
            return await show(request)
        refused = routes.WRONG_TOKEN
        return PlainTextResponse(f"{refused.meaning}\n", refused.status, {"www-authenticate": "Bearer"})

    return shown


def _listening(options: ProbeOptions) -> socket.socket:
    where = f"--probe_host={options.host} --probe_port={options.port}"
    try:
        return listen(options.host, options.port)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        advice = "another program listens there; choose another port" if taken else "choose others"
        raise FlagError(f"{where}: probes cannot be answered ({error.strerror}); {advice}") from error
