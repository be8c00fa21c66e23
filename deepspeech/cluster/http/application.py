"""The coordinator over HTTP: a Starlette application around the state machine."""

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ...schedule.coordinator import NoJob, ResultRefusedError
from ...schedule.jobs import Job
from ..coordination import membership
from ..coordination.coordinator import ClusterCoordinator
from ..coordination.status import status_of
from .metrics import render_metrics
from .openapi import describe
from .protocol import (
    AliveBody,
    Body,
    DoneBody,
    ErrorBody,
    JobAnswer,
    JobBody,
    JoinBody,
    JoinedBody,
    LeaveBody,
    MemberBody,
    ResultBody,
    ReturnBody,
    StepAnswer,
    StepBody,
)
from .service import Service

traffic = logging.getLogger("deepspeech.traffic")

LARGEST_BODY = 1 << 20
"""Bytes."""

TICK_SECONDS = 0.25
"""Between looks for members that fell silent."""

STATUS_OF_ERRORS: dict[type[Exception], tuple[int, str]] = {
    membership.JoinRefusedError: (403, "refused"),
    membership.JobLostError: (409, "job_lost"),
    ResultRefusedError: (409, "job_lost"),
    membership.NotMemberError: (410, "not_member"),
    membership.ReplacedError: (410, "replaced"),
    membership.TrainingFailedError: (410, "failed"),
}

Given = TypeVar("Given", bound=Body)
Handler = Callable[[Request], Awaitable[Response]]


class RequestRefusedError(Exception):
    """A request that isn't one: answered with the status and the message."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


def application(service: Service, token: str | None) -> ASGIApp:
    """The application; requests are answered 401 unless they carry the token, if there is one."""
    api = _Handlers(service)
    page = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")

    async def show_page(_: Request) -> Response:
        return HTMLResponse(page)

    async def show_description(_: Request) -> Response:
        return JSONResponse(describe())

    def guarded(handler: Handler) -> Handler:
        async def handle(request: Request) -> Response:
            try:
                _check_token(request, token)
                return await handler(request)
            except RequestRefusedError as error:
                return _refusal(error.status, error.kind, str(error))
            except tuple(STATUS_OF_ERRORS) as error:
                return _refusal(*STATUS_OF_ERRORS[type(error)], str(error))
            except ClientDisconnect:
                return Response(status_code=400)

        return handle

    posts = {
        "/v1/join": api.join,
        "/v1/heartbeat": api.heartbeat,
        "/v1/leave": api.leave,
        "/v1/jobs": api.next_job,
        "/v1/jobs/return": api.return_jobs,
        "/v1/steps": api.begin_step,
        "/v1/results": api.submit,
    }
    direct = {path: guarded(handler) for path, handler in posts.items()}

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.attach()
        ticking = asyncio.create_task(_tick(service))
        yield
        ticking.cancel()

    others = Starlette(
        routes=[
            Route("/", show_page, methods=["GET"]),
            Route("/openapi.json", show_description, methods=["GET"]),
            Route("/v1/status", guarded(api.status), methods=["GET"]),
            Route("/metrics", guarded(api.metrics), methods=["GET"]),
            *(Route(path, handler, methods=["POST"]) for path, handler in direct.items()),
        ],
        lifespan=lifespan,
    )

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        # Thousands of requests a second come by here: they need neither Starlette's middleware nor its router.
        handler = direct.get(scope.get("path", "")) if scope.get("method") == "POST" else None
        if handler is None:
            await others(scope, receive, send)
        else:
            response = await handler(Request(scope, receive))
            await response(scope, receive, send)

    return serve


class _Handlers:
    def __init__(self, service: Service) -> None:
        self._service = service

    async def join(self, request: Request) -> Response:
        applicant = (await _read(request, JoinBody)).applicant()
        with self._service.locked() as coordinator:
            identity = coordinator.join(applicant, self._service.clock())
            lease = coordinator.settings.lease_seconds
        self._service.changed()
        return (
            Response(status_code=202) if identity is None else _json(JoinedBody(member=identity, lease_seconds=lease))
        )

    async def heartbeat(self, request: Request) -> Response:
        body = await _read(request, MemberBody)
        with self._service.locked() as coordinator:
            coordinator.heartbeat(body.member, self._service.clock())
            return _json(AliveBody(over=coordinator.shutdown.servers_may_stop))

    async def leave(self, request: Request) -> Response:
        body = await _read(request, LeaveBody)
        with self._service.locked() as coordinator:
            coordinator.leave(body.member, self._service.clock(), body.failure)
        self._service.changed()
        return _json(DoneBody())

    async def next_job(self, request: Request) -> Response:
        body = await _read(request, JobBody)

        def ask(coordinator: ClusterCoordinator, now: float) -> Job | NoJob | None:
            job = coordinator.next_job(body.member, now)
            return None if job is NoJob.WAIT else job

        job = await self._service.poll(ask, body.wait)
        if isinstance(job, Job):
            return _json(JobAnswer.of(job))
        if job is NoJob.OVER:
            self._service.wake_chief()
        return Response(status_code=202 if job is None else 204)

    async def return_jobs(self, request: Request) -> Response:
        body = await _read(request, ReturnBody)
        with self._service.locked() as coordinator:
            coordinator.return_jobs(body.member, body.jobs, self._service.clock())
        self._service.changed()
        return _json(DoneBody())

    async def begin_step(self, request: Request) -> Response:
        body = await _read(request, StepBody)

        def ask(coordinator: ClusterCoordinator, now: float) -> int | None:
            return coordinator.begin_step(body.member, body.job, now)

        number = await self._service.poll(ask, body.wait)
        return Response(status_code=202) if number is None else _json(StepAnswer(round=number))

    async def submit(self, request: Request) -> Response:
        body = await _read(request, ResultBody)
        with self._service.locked() as coordinator:
            coordinator.submit(
                body.member,
                body.job,
                tuple(body.batches),
                body.tally.tally(),
                last=body.last,
                round_number=body.round,
                now=self._service.clock(),
            )
            epoch_ended = coordinator.has_reports
        if epoch_ended:
            self._service.changed()
        else:
            self._service.wake_chief()
        return _json(DoneBody())

    async def status(self, _: Request) -> Response:
        with self._service.locked() as coordinator:
            return JSONResponse(status_of(coordinator, self._service.clock()), headers={"cache-control": "no-store"})

    async def metrics(self, _: Request) -> Response:
        with self._service.locked() as coordinator:
            status = status_of(coordinator, self._service.clock())
        text, content_type = render_metrics(status)
        return Response(text, media_type=content_type)


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


async def _receive(request: Request) -> bytes:
    received = bytearray()
    async for chunk in request.stream():
        received += chunk
        if len(received) > LARGEST_BODY:
            raise RequestRefusedError(413, "too_large", f"a body may have {LARGEST_BODY} bytes at most")
    return bytes(received)


async def _read(request: Request, model: type[Given]) -> Given:
    """The request's body as a model; raises RequestRefusedError if it is too large or not one."""
    received = await _receive(request)
    if traffic.isEnabledFor(logging.INFO):
        traffic.info("%s %s", request.url.path, received.decode("utf-8", "replace"))
    try:
        return model.model_validate_json(received)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "body"
        raise RequestRefusedError(422, "invalid", f"{where}: {first['msg']}") from None


def _check_token(request: Request, token: str | None) -> None:
    given = request.headers.get("authorization", "")
    if token is not None and not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        raise RequestRefusedError(401, "token", "the coordinator's token is missing or wrong; give --coord_token_file")


def _json(body: Body) -> Response:
    return Response(body.model_dump_json(), media_type="application/json")


def _refusal(status: int, kind: str, message: str) -> Response:
    headers = {"www-authenticate": "Bearer"} if status == 401 else {}
    return JSONResponse(ErrorBody(kind=kind, error=message).model_dump(), status_code=status, headers=headers)
