"""The files of a web page: read once, and served with their types and entity tags."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

FOLDER = "/page/"
"""The path of the files that `index.html` uses; it is itself at `/`."""


def file_endpoints(folder: Path, headers: Mapping[str, str]) -> dict[str, Callable[[Request], Awaitable[Response]]]:
    """Return the endpoint for the path of each file of a page; its answers also have these headers."""
    files = sorted(path for path in folder.iterdir() if path.suffix in MEDIA_TYPES)
    return {"/" if path.name == "index.html" else f"{FOLDER}{path.name}": _endpoint(path, headers) for path in files}


def _endpoint(path: Path, headers: Mapping[str, str]) -> Callable[[Request], Awaitable[Response]]:
    body = path.read_bytes()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    own = {**headers, "content-type": MEDIA_TYPES[path.suffix], "etag": tag}

    async def show(request: Request) -> Response:
        if _holds(request.headers, tag):
            return Response(status_code=304, headers=own)
        return Response(body, headers=own)

    return show


def _holds(asked: Mapping[str, str], tag: str) -> bool:
    """Return whether a browser already has the current version of a file."""
    return tag in (name.strip().removeprefix("W/") for name in asked.get("if-none-match", "").split(","))
