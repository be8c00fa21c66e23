"""The views of a training run for people and monitoring: the page, its JSON, and metrics for Prometheus."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ...util.web.origins import is_of_this_machine, is_same_origin
from ...util.web.probes import probe_endpoints
from ...util.web.static_files import file_endpoints
from . import routes
from .metrics import render_metrics

PAGE = Path(__file__).parent / "page"

Endpoint = Callable[[Request], Awaitable[Response]]
"""Answers a request."""

UNFRAMED = {"content-security-policy": "frame-ancestors 'none'", "x-frame-options": "DENY"}
"""Headers that keep other pages from embedding this one."""

Tell = Callable[[], Mapping[str, Any]]
"""Returns the status of a run, a value for JSON; it is called on the server's thread."""


def status_application(tell: Tell) -> ASGIApp:
    """Return the application that shows the status of a run to anyone, and takes no messages."""
    views = {view.path: to_this_machine(show) for view, show in view_endpoints(tell).items()}
    return pages_of({**page_endpoints(), **views, **probe_endpoints(lambda: _unready(tell()["phase"]))})


def _unready(phase: str) -> str | None:
    return None if phase in ("training", "testing") else phase


def pages_of(shown: Mapping[str, Endpoint], lifespan: Any = None) -> Starlette:
    """Return the application that serves endpoints at their paths, without redirects."""
    shown_at = [Route(path, show, methods=["GET"]) for path, show in shown.items()]
    pages = Starlette(routes=shown_at, lifespan=lifespan)
    pages.router.redirect_slashes = False
    return pages


def to_this_machine(show: Endpoint) -> Endpoint:
    """Return the endpoint restricted to programs on this machine; it refuses pages of other origins."""

    async def shown(request: Request) -> Response:
        host = request.headers.get("host")
        if is_of_this_machine(host) and is_same_origin(request.headers.get("origin"), host):
            return await show(request)
        return PlainTextResponse("only for this machine", routes.WRONG_ORIGIN.status)

    return shown


def page_endpoints() -> dict[str, Endpoint]:
    """Return the endpoints of the page and its files; the page polls the status."""
    return file_endpoints(PAGE, {**UNFRAMED, "cache-control": "no-cache", "x-content-type-options": "nosniff"})


def view_endpoints(tell: Tell) -> dict[routes.View, Endpoint]:
    """Return the endpoint of each view."""

    async def status(_: Request) -> Response:
        return JSONResponse(tell(), headers={"cache-control": "no-store"})

    async def metrics(_: Request) -> Response:
        text, content_type = render_metrics(tell())
        return Response(text, media_type=content_type)

    return {routes.STATUS: status, routes.METRICS: metrics}
