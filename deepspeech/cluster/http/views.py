"""What people and monitors see of a training run: the page, its JSON, and figures for Prometheus."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from . import routes
from .metrics import render_metrics

Endpoint = Callable[[Request], Awaitable[Response]]
"""Answers a request."""

Tell = Callable[[], Mapping[str, Any]]
"""Returns the status of a run, a value for JSON; it is called on the server's thread."""


def status_application(tell: Tell) -> ASGIApp:
    """Return the application that shows the status of a run to anyone, and takes no messages."""
    shown = {"/": page_endpoint(), **{view.path: show for view, show in view_endpoints(tell).items()}}
    return Starlette(routes=[Route(path, show, methods=["GET"]) for path, show in shown.items()])


def page_endpoint() -> Endpoint:
    """Return the endpoint of the page, which asks for the status again and again."""
    page = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")

    async def show(_: Request) -> Response:
        return HTMLResponse(page)

    return show


def view_endpoints(tell: Tell) -> dict[routes.View, Endpoint]:
    """Return what answers each view."""

    async def status(_: Request) -> Response:
        return JSONResponse(tell(), headers={"cache-control": "no-store"})

    async def metrics(_: Request) -> Response:
        text, content_type = render_metrics(tell())
        return Response(text, media_type=content_type)

    return {routes.STATUS: status, routes.METRICS: metrics}
