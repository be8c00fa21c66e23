"""The liveness and readiness probes for a scheduler or load balancer. They need no secret."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

ALIVE = "/healthz"
READY = "/readyz"

Probe = Callable[[Request], Awaitable[Response]]


def probe_endpoints(unready: Callable[[], str | None]) -> dict[str, Probe]:
    """Return the endpoints ALIVE and READY; `unready` returns a word for why the process is not ready, or None.

    ALIVE always answers 200. READY answers 200, or 503 with the word of `unready`.
    """

    async def alive(_: Request) -> Response:
        return PlainTextResponse("ok\n", headers=UNSTORED)

    async def ready(_: Request) -> Response:
        reason = unready()
        return PlainTextResponse(f"{reason or 'ok'}\n", 503 if reason else 200, headers=UNSTORED)

    return {ALIVE: alive, READY: ready}


UNSTORED = {"cache-control": "no-store"}
