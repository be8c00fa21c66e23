"""A local web server with archives that can simulate faults."""

from __future__ import annotations

import io
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Server(ThreadingHTTPServer):
    """Serves `content` at any path that does not begin with /missing; `ranges` and `break_after` select its faults.

    Files whose names `contents` has are served with that content. It is a proxy, too.
    """

    content = b""
    ranges = True
    break_after: int | None = None  # bytes after which the first answer breaks off

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.contents: dict[str, bytes] = {}
        self.asked: list[str | None] = []  # the Range header of each request
        self.paths: list[str] = []  # of each request; a whole address if the server was asked as a proxy

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/archive.tar.gz"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        self.server.paths.append(self.path)
        if self.path.startswith("/missing"):
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self.server.ranges else 0
        content = self.server.contents.get(self.path.rpartition("/")[2], self.server.content)
        if start >= len(content):
            self.send_error(416)
            return
        body = content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.break_after])
        self.server.break_after = None

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server during the block."""
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def packed(folder: Path) -> bytes:
    """Return a tar.gz of a folder's content."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)
    return stream.getvalue()
