"""The coordinator over HTTP: a Starlette application around the state machine."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ...util.web.tokens import is_token
from ..coordination.errors import CoordinatorError
from . import routes
from .handlers import Handler, Handlers
from .openapi import describe
from .protocol import ErrorBody, body_named
from .service import Service
from .views import Endpoint, page_endpoint

traffic = logging.getLogger("deepspeech.traffic")

LARGEST_BODY = 1 << 20
"""Bytes."""

TICK_SECONDS = 0.25
"""Between looks for members that fell silent."""

ONLY_POST = PlainTextResponse("Method Not Allowed", 405, {"Allow": "POST"})


class RequestRefusedError(Exception):
    """A request is refused before the coordinator hears of it."""

    def __init__(self, refusal: routes.Refusal, message: str) -> None:
        super().__init__(message)
        self.status = refusal.status
        self.kind = refusal.kind


def application(service: Service, token: str | None) -> ASGIApp:
    """Return the application; requests are answered 401 unless they carry the token, if there is one."""
    handlers = Handlers(service)
    messages = {route.path: _checked(_reading(route, handler), token) for route, handler in handlers.messages.items()}
    pages = _pages(service, handlers, token)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        # Thousands of messages a second come by here: they need neither Starlette's middleware nor its router.
        endpoint = messages.get(scope.get("path", ""))
        if endpoint is None:
            await pages(scope, receive, send)
        elif scope["method"] != "POST":
            await ONLY_POST(scope, receive, send)
        else:
            response = await endpoint(Request(scope, receive))
            await response(scope, receive, send)

    return serve


def _pages(service: Service, handlers: Handlers, token: str | None) -> ASGIApp:
    """Return what answers everything but messages; while it is served, members that fell silent are looked for."""
    description = describe(handlers.messages, handlers.views)

    async def show_description(_: Request) -> Response:
        return JSONResponse(description)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.attach()
        ticking = asyncio.create_task(_tick(service))
        yield
        ticking.cancel()

    shown: dict[str, Endpoint] = {"/": page_endpoint(), "/openapi.json": show_description}
    shown |= {view.path: _checked(show, token) for view, show in handlers.views.items()}
    return Starlette(routes=[Route(path, show, methods=["GET"]) for path, show in shown.items()], lifespan=lifespan)


async def _tick(service: Service) -> None:
    """Look for lost members again and again."""
    while True:
        await asyncio.sleep(TICK_SECONDS)
        with service.locked() as coordinator:
            lost = coordinator.counts.lost_members
            coordinator.tick(service.clock())
            lost = coordinator.counts.lost_members - lost
        if lost:
            service.changed()
        else:
            service.wake_chief()


def _checked(endpoint: Endpoint, token: str | None) -> Endpoint:
    """Return the endpoint for requests that carry the token; errors become answers with their status and kind."""

    async def checked(request: Request) -> Response:
        try:
            _check_token(request, token)
            return await endpoint(request)
        except (RequestRefusedError, CoordinatorError) as error:
            headers = {"www-authenticate": "Bearer"} if error.status == routes.WRONG_TOKEN.status else {}
            told = ErrorBody(kind=error.kind, error=str(error)).model_dump()
            return JSONResponse(told, status_code=error.status, headers=headers)
        except ClientDisconnect:
            return Response(status_code=routes.INCOMPLETE.status)

    return checked


def _check_token(request: Request, token: str | None) -> None:
    given = request.headers.get("authorization", "")
    if token is not None and not is_token(given, f"Bearer {token}"):
        raise RequestRefusedError(
            routes.WRONG_TOKEN, "the coordinator's token is missing or wrong; give --coord_token_file"
        )


def _reading(route: routes.Route, handler: Handler) -> Endpoint:
    """Return the endpoint of a message: its body is read and checked before it is handled."""
    model = body_named(route.body)

    async def endpoint(request: Request) -> Response:
        received = await _receive(request)
        if traffic.isEnabledFor(logging.INFO):
            traffic.info("%s %s", route.path, received.decode("utf-8", "replace"))
        try:
            body = model.model_validate_json(received)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "body"
            raise RequestRefusedError(routes.INVALID_BODY, f"{where}: {first['msg']}") from None
        return await handler(body)

    return endpoint


async def _receive(request: Request) -> bytes:
    received = bytearray()
    async for chunk in request.stream():
        received += chunk
        if len(received) > LARGEST_BODY:
            raise RequestRefusedError(routes.BODY_TOO_LARGE, f"a body may have {LARGEST_BODY} bytes at most")
    return bytes(received)
