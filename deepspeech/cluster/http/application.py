"""The coordinator over HTTP: a Starlette application around the state machine."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ...util.web.origins import is_of_this_machine, is_same_origin
from ...util.web.probes import probe_endpoints
from ...util.web.tokens import bearer_token, is_token
from ..coordination.errors import CoordinatorError
from . import routes
from .handlers import Handler, Handlers
from .openapi import describe
from .protocol import ErrorBody, body_named
from .service import Service
from .views import Endpoint, page_endpoints, pages_of

traffic = logging.getLogger("deepspeech.traffic")

LARGEST_BODY = 1 << 20
"""Bytes."""

TICK_SECONDS = 0.25
"""Seconds between checks for members that have fallen silent."""

ONLY_POST = PlainTextResponse("Method Not Allowed", 405, {"Allow": "POST"})


Check = Callable[[Request], None]
"""Raises RequestRefusedError for a request that must not be answered."""


class RequestRefusedError(Exception):
    """A request is refused before it reaches the coordinator."""

    def __init__(self, refusal: routes.Refusal, message: str) -> None:
        super().__init__(message)
        self.status = refusal.status
        self.kind = refusal.kind


def application(service: Service, token: str | None, host: str = "localhost") -> ASGIApp:
    """Return the application; with a token, requests without it get 401.

    Without a token, only this machine, which is also called `host`, may send requests: pages of other origins get 403.
    """
    handlers = Handlers(service)
    check = partial(_check_origin, host=host) if token is None else partial(_check_token, token=token)
    messages = {route.path: _checked(_reading(route, handler), check) for route, handler in handlers.messages.items()}
    pages = _pages(service, handlers, check)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        # Thousands of messages a second pass here: they need neither Starlette's middleware nor its router.
        endpoint = messages.get(scope.get("path", ""))
        if endpoint is None:
            await pages(scope, receive, send)
        elif scope["method"] != "POST":
            await ONLY_POST(scope, receive, send)
        else:
            response = await endpoint(Request(scope, receive))
            await response(scope, receive, send)

    return serve


def _pages(service: Service, handlers: Handlers, check: Check) -> ASGIApp:
    """Return the application for everything but messages; while it runs, it checks for members that fell silent."""

    @cache
    def description() -> dict[str, Any]:
        return describe(handlers.messages, handlers.views)  # takes a tenth of a second, and few ask for it

    async def show_description(_: Request) -> Response:
        return JSONResponse(description())

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.attach()
        ticking = asyncio.create_task(_tick(service))
        yield
        ticking.cancel()

    shown: dict[str, Endpoint] = {**page_endpoints(), "/openapi.json": show_description}
    shown |= probe_endpoints(handlers.unready)
    shown |= {view.path: _checked(show, check) for view, show in handlers.views.items()}
    return pages_of(shown, lifespan)


async def _tick(service: Service) -> None:
    """Check for lost members every TICK_SECONDS."""
    while True:
        await asyncio.sleep(TICK_SECONDS)
        with service.locked() as coordinator:
            lost = coordinator.counts.lost_members
            coordinator.tick(service.clock())
            lost = coordinator.counts.lost_members - lost
        if lost:
            service.work_returned()
        else:
            service.wake_chief()


def _checked(endpoint: Endpoint, check: Check) -> Endpoint:
    """Return the endpoint with a check of each request; errors become answers with their status and kind."""

    async def checked(request: Request) -> Response:
        try:
            check(request)
            return await endpoint(request)
        except (RequestRefusedError, CoordinatorError) as error:
            headers = {"www-authenticate": "Bearer"} if error.status == routes.WRONG_TOKEN.status else {}
            told = ErrorBody(kind=error.kind, error=str(error)).model_dump()
            return JSONResponse(told, status_code=error.status, headers=headers)
        except ClientDisconnect:
            return Response(status_code=routes.INCOMPLETE.status)

    return checked


def _check_token(request: Request, token: str) -> None:
    if not is_token(bearer_token(request.headers.get("authorization", "")), token):
        raise RequestRefusedError(
            routes.WRONG_TOKEN, "the coordinator's token is missing or wrong; give --coord_token_file"
        )


def _check_origin(request: Request, host: str) -> None:
    asked = request.headers.get("host")
    if not (is_of_this_machine(asked, [host]) and is_same_origin(request.headers.get("origin"), asked)):
        raise RequestRefusedError(routes.WRONG_ORIGIN, "without a token, the coordinator answers this machine alone")


def _reading(route: routes.Route, handler: Handler) -> Endpoint:
    """Return the endpoint of a message: its body is read and checked before it is handled."""
    model = body_named(route.body)

    async def endpoint(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != routes.JSON:
            raise RequestRefusedError(routes.NOT_JSON, f"the body's Content-Type must be {routes.JSON}")
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
