"""The server as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ...util.web.probes import probe_endpoints
from .access import Access, refuse
from .description import describe
from .errors import RefusedError, failed
from .live import endpoint as live_endpoint
from .openai.endpoints import openai_routes
from .page.routes import page_routes
from .service import Service
from .stt.routes import stt_route
from .vosk import connection as vosk

UNKNOWN_URL = "unknown_url"
"""The error code of a request for a path that does not exist."""


def application(service: Service) -> ASGIApp:
    """Return the application, with the access rules of the options; it serves once its lifespan has begun."""
    pages = _pages(service)
    sockets: dict[str, ASGIApp] = {
        live_endpoint.PATH: live_endpoint.WebSocketEndpoint(service, live_endpoint.live_connection),
        vosk.PATH: live_endpoint.WebSocketEndpoint(service, vosk.vosk_connection),
    }

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and scope["path"] in sockets:
            await sockets[scope["path"]](scope, receive, send)
        elif scope["type"] == "websocket":  # otherwise the answer would be 403, as for a wrong token
            service.metrics.refused.labels(UNKNOWN_URL).inc()
            told = f"There is no WebSocket at {scope['path']}; connect to {live_endpoint.PATH}"
            await refuse(scope, send, RefusedError(404, UNKNOWN_URL, told))
        else:
            await pages(scope, receive, send)

    checked = Access(serve, service)
    origins = service.options.allowed_origins
    if not origins:
        return checked
    return CORSMiddleware(
        checked,
        allow_origins=origins,
        allow_methods=("GET", "POST"),
        allow_headers=("*",),
        expose_headers=("Retry-After",),  # so that pages, too, can read when to try again
    )


def _pages(service: Service) -> ASGIApp:
    description = describe(service.options)

    async def metrics(_: Request) -> Response:
        text, content_type = service.metrics.text()
        return Response(text, media_type=content_type)

    async def openapi(_: Request) -> Response:
        return JSONResponse(description)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        service.close()

    async def no_websocket(_: Request) -> Response:
        raise RefusedError(426, "upgrade_required", "This path takes only WebSocket connections")

    async def refusal(request: Request, error: Exception) -> Response:
        refused = _refused(request, error)
        service.metrics.refused.labels(refused.code).inc()
        headers = {**refused.headers, **(getattr(error, "headers", None) or {})}
        return JSONResponse(refused.to_json(), refused.status, headers)

    views = {
        live_endpoint.PATH: no_websocket,
        **probe_endpoints(lambda: "draining" if service.draining.is_set() else None),
        "/metrics": metrics,
        "/openapi.json": openapi,
    }
    routes = [Route(path, show, methods=["GET"]) for path, show in views.items()]
    pages = Starlette(
        routes=[*routes, *openai_routes(service), stt_route(service), *page_routes()],
        lifespan=lifespan,
        exception_handlers=dict.fromkeys((RefusedError, 404, 405, 500), refusal),
    )
    pages.router.redirect_slashes = False  # it would redirect to the address that a proxy in front asked for
    return pages


def _refused(request: Request, error: Exception) -> RefusedError:
    """Return the error for a request that was refused, has an unknown path or a wrong method, or failed."""
    if isinstance(error, RefusedError):
        return error
    status = getattr(error, "status_code", None)
    if status == 404:
        return RefusedError(404, UNKNOWN_URL, f"Unknown request URL: {request.url.path}")
    if status == 405:
        return RefusedError(405, "method_not_allowed", f"{request.method} is not allowed for {request.url.path}")
    return failed(f"{request.method} {request.scope['raw_path'].decode('ascii', 'replace')}", error)
