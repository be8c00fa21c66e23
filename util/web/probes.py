"""The probes of a scheduler or load balancer: whether a process lives, and whether it is ready. They need no secret."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

ALIVE = "/healthz"
READY = "/readyz"

Probe = Callable[[Request], Awaitable[Response]]


def probe_endpoints(unready: Callable[[], str | None]) -> dict[str, Probe]:
    """Return what answers ALIVE and READY; `unready` returns in a word why the process is not ready, None if it is.

    A process that answers lives: 200. One that is ready is answered with 200, another with 503 and the word.
    """

    async def alive(_: Request) -> Response:
        return PlainTextResponse("ok\n", headers=UNSTORED)

    async def ready(_: Request) -> Response:
        reason = unready()
        return PlainTextResponse(f"{reason or 'ok'}\n", 503 if reason else 200, headers=UNSTORED)

    return {ALIVE: alive, READY: ready}


UNSTORED = {"cache-control": "no-store"}
