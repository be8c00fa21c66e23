"""The routes of the page: static files, read once, with headers that exclude other hosts."""

from pathlib import Path

from starlette.routing import Route

from ....util.web.static_files import file_endpoints

FILES = Path(__file__).parent / "static"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy: nothing from other hosts, and no inline scripts."""

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
    return [Route(path, show, methods=["GET"]) for path, show in file_endpoints(FILES, HEADERS).items()]
