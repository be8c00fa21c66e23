"""The routes of the page: static files, read once, with the headers that keep other hosts out of it."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FILES = Path(__file__).parent / "static"

MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load, and from where: nothing from another host, and no script of its own text."""

HEADERS = {
    "cache-control": "no-cache",
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "microphone=(self), camera=(), geolocation=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


def page_routes() -> list[Route]:
    """Return the routes of the page `/` and of its files below `/page/`; they need no token."""
    return [_route(path) for path in sorted(FILES.iterdir()) if path.suffix in MEDIA_TYPES]


def _route(path: Path) -> Route:
    body = path.read_bytes()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {**HEADERS, "content-type": MEDIA_TYPES[path.suffix], "etag": tag}

    async def show(request: Request) -> Response:
        if _holds(request.headers, tag):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers)

    return Route("/" if path.name == "index.html" else f"/page/{path.name}", show, methods=["GET"])


def _holds(asked: Mapping[str, str], tag: str) -> bool:
    """Return whether a browser has the file as it is."""
    return tag in (name.strip().removeprefix("W/") for name in asked.get("if-none-match", "").split(","))
