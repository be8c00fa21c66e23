"""A hub of repositories with the protocol of Hugging Face's: lists, ranges of files, and commits that add or remove."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

REPOSITORY = "datasets/people/speech"
BUCKET = "people/store"
REGULAR_BYTES = 10 << 20
"""Larger files are uploaded apart from their commit, as Git LFS does."""


@dataclass
class Hub:
    """The files of REPOSITORY, which are also those of BUCKET; all requests demand `token` if it is set."""

    files: dict[str, bytes] = field(default_factory=dict)
    large: dict[str, bytes] = field(default_factory=dict)
    token: str = ""
    conflicts: int = 0
    """How many of the next commits are refused because another one came first."""
    page: int = 1000
    """Entries of a list in one answer."""
    lock: Any = field(default_factory=threading.Lock)

    def entries(self, folder: str, recursive: bool) -> list[dict[str, Any]] | None:
        """Return what is below a folder, None if there is no such folder."""
        below = {name: content for name, content in self.files.items() if name.startswith(folder)}
        if folder and not below:
            return None
        folders, found = set(), []
        for name, content in below.items():
            parts = name.removeprefix(folder).split("/")
            folders |= {folder + "/".join(parts[:depth]) for depth in range(1, len(parts))}
            if recursive or len(parts) == 1:
                found.append(entry(name, content))
        shown = {each for each in folders if recursive or "/" not in each.removeprefix(folder)}
        return [{"type": "directory", "path": each, "oid": "0" * 40, "size": 0} for each in sorted(shown)] + found

    def commit(self, lines: list[dict[str, Any]]) -> bool:
        """Carry out a commit's operations; return False if a file to delete does not exist."""
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                self.files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                self.files[value["path"]] = self.large[value["oid"]]
            elif line["key"] == "deletedFile" and self.files.pop(value["path"], None) is None:
                return False
        return True


def entry(name: str, content: bytes) -> dict[str, Any]:
    """Return what the hub says of a file."""
    return {"type": "file", "path": name, "size": len(content), "oid": blob_id(content), "xetHash": blob_id(content)}


def blob_id(content: bytes) -> str:
    """Return Git's name of a content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._answered()

    do_POST = do_PUT = do_HEAD = do_GET  # noqa: N815

    def _answered(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        with self.server.hub.lock:
            for pattern, answer in _ROUTES.items():
                if match := re.fullmatch(pattern, parts.path):
                    hub = self.server.hub
                    if hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
                        return self._error(401, "", "Invalid username or password.")
                    return answer(self, *(unquote(each or "") for each in match.groups()), body=body, query=parts.query)
        return self._error(404, "RepoNotFound", "Repository not found")

    def _told(self, revision: str, **_: Any) -> None:
        if revision not in ("", "main"):
            return self._error(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return self._json({"id": REPOSITORY.partition("/")[2], "sha": "1" * 40, "siblings": []})

    def _tree(self, folder: str, *, query: str, **_: Any) -> None:
        asked = parse_qs(query)
        recursive = asked.get("recursive", ["False"])[0].lower() == "true"
        entries = self.server.hub.entries(f"{folder}/" if folder else "", recursive)
        if entries is None:
            return self._error(404, "EntryNotFound", f"{folder} does not exist on main")
        start, page = int(asked.get("cursor", ["0"])[0]), self.server.hub.page
        headers = {}
        if start + page < len(entries):
            here = f"http://{self.headers['Host']}{urlsplit(self.path).path}"
            headers["Link"] = f'<{here}?recursive={recursive}&expand=False&cursor={start + page}>; rel="next"'
        return self._json(entries[start : start + page], headers)

    def _paths(self, *, body: bytes, **_: Any) -> None:
        form = json.loads(body) if body.startswith(b"{") else parse_qs(body.decode())
        files = self.server.hub.files
        self._json([entry(name, files[name]) for name in form["paths"] if name in files])

    def _content(self, name: str, **_: Any) -> None:
        content = self.server.hub.files.get(name)
        if content is None:
            return self._error(404, "EntryNotFound", "Entry not found")
        headers = {"ETag": f'"{blob_id(content)}"', "Accept-Ranges": "bytes"}
        if range_asked := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or ""):
            start, end = int(range_asked[1]), int(range_asked[2] or len(content) - 1)
            if start >= len(content):
                return self._error(416, "", "Range not satisfiable")
            headers["Content-Range"] = f"bytes {start}-{min(end, len(content) - 1)}/{len(content)}"
            return self._send(206, content[start : end + 1], headers)
        return self._send(200, content, headers)

    def _ways_to_upload(self, *, body: bytes, **_: Any) -> None:
        files = self.server.hub.files
        self._json(
            {
                "files": [
                    {
                        "path": each["path"],
                        "uploadMode": "regular" if each["size"] < REGULAR_BYTES else "lfs",
                        "shouldIgnore": False,
                        "oid": blob_id(files[each["path"]]) if each["path"] in files else None,
                    }
                    for each in json.loads(body)["files"]
                ]
            }
        )

    def _places_of_large(self, *, body: bytes, **_: Any) -> None:
        here = f"http://{self.headers['Host']}/large"
        objects = [
            {**each, "actions": {"upload": {"href": f"{here}/{each['oid']}"}}} for each in json.loads(body)["objects"]
        ]
        self._json({"transfer": "basic", "objects": objects})

    def _large(self, identity: str, *, body: bytes, **_: Any) -> None:
        assert hashlib.sha256(body).hexdigest() == identity
        self.server.hub.large[identity] = body
        self._send(200, b"")

    def _commit(self, *, body: bytes, **_: Any) -> None:
        hub = self.server.hub
        if hub.conflicts:
            hub.conflicts -= 1
            return self._error(412, "", "A commit has happened since. Please refresh and try again.")
        if not hub.commit([json.loads(line) for line in body.splitlines()]):
            return self._error(404, "EntryNotFound", "A file with this name doesn't exist")
        url = f"http://{self.headers['Host']}/{REPOSITORY}/commit/{'2' * 40}"
        return self._json({"success": True, "commitOid": "2" * 40, "commitUrl": url, "hookOutput": ""})

    def _bucket(self, **_: Any) -> None:
        about = {"private": False, "createdAt": "2026-01-01T00:00:00.000Z", "size": 0}
        self._json({"id": BUCKET, "totalFiles": len(self.server.hub.files), **about})

    def _batch(self, *, body: bytes, **_: Any) -> None:
        for line in map(json.loads, body.splitlines()):
            assert line["type"] == "deleteFile"
            self.server.hub.files.pop(line["path"])
        self._json({"success": True, "failed": []})

    def _error(self, status: int, code: str, message: str) -> None:
        self._send(status, json.dumps({"error": message}).encode(), {"X-Error-Code": code, "X-Error-Message": message})

    def _json(self, value: object, headers: dict[str, str] | None = None) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})

    def _send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


_ROUTES: dict[str, Callable[..., None]] = {
    f"/api/{REPOSITORY}(?:/revision/(.*))?": _Handler._told,
    f"/api/{REPOSITORY}/tree/main(?:/(.*))?": _Handler._tree,
    f"/api/{REPOSITORY}/paths-info/main": _Handler._paths,
    f"/api/{REPOSITORY}/preupload/main": _Handler._ways_to_upload,
    f"/api/{REPOSITORY}/commit/main": _Handler._commit,
    f"/{REPOSITORY}.git/info/lfs/objects/batch": _Handler._places_of_large,
    "/large/(.*)": _Handler._large,
    f"/{REPOSITORY}/resolve/main/(.*)": _Handler._content,
    f"/api/buckets/{BUCKET}": _Handler._bucket,
    f"/api/buckets/{BUCKET}/tree(?:/(.*))?": _Handler._tree,
    f"/api/buckets/{BUCKET}/paths-info": _Handler._paths,
    f"/api/buckets/{BUCKET}/batch": _Handler._batch,
    f"/buckets/{BUCKET}/resolve/(.*)": _Handler._content,
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, hub: Hub) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hub = hub


@contextmanager
def serve(hub: Hub) -> Iterator[tuple[str, int]]:
    """Serve a hub; yield its host and port."""
    server = _Server(hub)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield "127.0.0.1", server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
