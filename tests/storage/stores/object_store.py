"""An object store as S3's, moto's, and a proxy before it, or before others, that fails as networks and stores do."""

from __future__ import annotations

import http.client
import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

import pytest

BUCKET = "speech"
_HOP = {"transfer-encoding", "connection", "content-length", "server", "date"}
_SLOW_DOWN = (
    b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
)
_DENIED = b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"

KINDS = ("503", "truncated", "slow", "gone")
"""An answer of 503; one that ends in the middle; one that comes late; and none, with the connection closed."""


@dataclass
class Faults:
    """Which requests fail: a share of them, drawn by the seed, and all until a time."""

    share: float = 0.0
    kinds: tuple[str, ...] = KINDS
    seed: int = 1
    slow_seconds: float = 0.05
    outage_until: float = 0.0
    begins: tuple[str, float] | None = None
    """An outage of so many seconds when the first request that has this text in its path arrives."""
    read_only: bool = False
    """Whether nothing may be written."""
    requests: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    _random: random.Random | None = None
    _lock: Any = field(default_factory=threading.Lock)

    def next(self, path: str) -> str:
        """Return what happens to a request: one of KINDS, or nothing."""
        with self._lock:
            self._random = self._random or random.Random(self.seed)
            self.requests += 1
            if self.begins is not None and self.begins[0] in path:
                self.outage_until, self.begins = time.monotonic() + self.begins[1], None
            kind = ""
            if time.monotonic() < self.outage_until:
                kind = "gone"
            elif self._random.random() < self.share:
                kind = self._random.choice(self.kinds)
            if kind:
                self.failed[kind] += 1
            return kind


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Proxy

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "chunked" in (self.headers.get("Transfer-Encoding") or ""):
            body = self._chunks()
        kind = self.server.faults.next(self.path)
        if kind == "gone":
            self.close_connection = True
            return
        if self.server.faults.read_only and self.command not in ("GET", "HEAD"):
            self._answer(403, {"Content-Type": "application/xml"}, _DENIED)
            return
        if kind == "503":
            self._answer(503, {"Content-Type": "application/xml"}, _SLOW_DOWN)
            return
        if kind == "slow":
            time.sleep(self.server.faults.slow_seconds)
        status, headers, content = self._forward(body)
        self._answer(status, headers, content, cut=kind == "truncated")

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_any  # noqa: N815

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(*self.server.upstream, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        connection.request(self.command, quote(self.path, safe="/?&=%:+~,!*'()@"), body, headers)
        answer = connection.getresponse()
        content = answer.read()
        found = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP}
        if self.command == "HEAD":
            found["Content-Length"] = answer.getheader("Content-Length") or "0"
        connection.close()
        return answer.status, found, content

    def _answer(self, status: int, headers: dict[str, str], content: bytes, *, cut: bool = False) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if cut:
            self.close_connection = True
            content = content[: len(content) // 2]
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, upstream: tuple[str, int], faults: Faults) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = upstream
        self.faults = faults

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@dataclass(frozen=True)
class ObjectStore:
    """A bucket, reached through a proxy with faults, and without one by `client`."""

    environment: dict[str, str]
    faults: Faults
    client: Any

    def address(self, name: str) -> str:
        return f"s3://{BUCKET}/{name}"

    def put(self, name: str, content: bytes) -> None:
        self.client.put_object(Bucket=BUCKET, Key=name, Body=content)

    def get(self, name: str) -> bytes:
        content: bytes = self.client.get_object(Bucket=BUCKET, Key=name)["Body"].read()
        return content

    def names(self, below: str = "") -> set[str]:
        found = self.client.list_objects_v2(Bucket=BUCKET, Prefix=below).get("Contents", [])
        return {each["Key"].removeprefix(below) for each in found}


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Serve an empty bucket."""
    pytest.importorskip("s3fs")
    boto3 = pytest.importorskip("boto3")
    server_module = pytest.importorskip("moto.server")
    moto = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto.start()
    host, port = moto.get_host_and_port()
    environment = {
        "AWS_ACCESS_KEY_ID": "tests",
        "AWS_SECRET_ACCESS_KEY": "tests",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    credentials = {"aws_access_key_id": "tests", "aws_secret_access_key": "tests", "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=f"http://{host}:{port}", **credentials)
    client.create_bucket(Bucket=BUCKET)
    faults = Faults()
    try:
        with faulty_proxy((host, port), faults) as address:
            yield ObjectStore({**environment, "AWS_ENDPOINT_URL": address}, faults, client)
    finally:
        moto.stop()


@contextmanager
def faulty_proxy(upstream: tuple[str, int], faults: Faults) -> Iterator[str]:
    """Yield the address of a proxy of a server, whose requests fail as `faults` say."""
    proxy = _Proxy(upstream, faults)
    threading.Thread(target=proxy.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{proxy.server_address[1]}"
    finally:
        proxy.shutdown()
        proxy.server_close()
