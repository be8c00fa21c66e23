"""Requests that never end or arrive too slowly: their connections are closed, and delay no other client."""

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPResponse

import pytest
from served import PATIENCE

from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.membership import ClusterSettings
from deepspeech.cluster.http import request_limits
from deepspeech.cluster.http.server import Server
from deepspeech.cluster.http.service import Service
from deepspeech.util.web.connections import ConnectionLimits

HEAD = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n"
PAGE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LIMIT = 0.7


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(request_limits, "SLOWEST_REQUEST", LIMIT)
    with Server(Service(ClusterCoordinator(ClusterSettings(1, 1, 1, 1), {})), "127.0.0.1", 0, None) as server:
        yield server.port


@pytest.fixture
def patient(port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Return a connection whose first request was answered, however long a busy machine took to send it."""
    with monkeypatch.context() as at_first, connected(port) as connection:
        at_first.setattr(request_limits, "SLOWEST_REQUEST", PATIENCE)
        ask(connection)
        at_first.undo()
        yield connection


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def ask(connection: socket.socket) -> None:
    """Send a request, and read its whole answer, which must not be a refusal."""
    connection.sendall(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = HTTPResponse(connection)
    answer.begin()
    assert answer.status == 200 and answer.read()


def dripped(connection: socket.socket, endless: bytes) -> bytes:
    """Send bytes one at a time until the connection is closed; return the answer."""
    connection.settimeout(0.01)
    answer, deadline = b"", time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(endless[:1])
            endless = endless[1:] or endless
        try:
            received = connection.recv(1000)
        except TimeoutError:
            continue
        except ConnectionResetError:
            return answer
        if not received:
            return answer
        answer += received
    raise AssertionError(f"the connection is still open after {PATIENCE} s")


def served_in(port: int) -> float:
    """Return the seconds that another client waits for an answer."""
    start = time.monotonic()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/status", timeout=PATIENCE) as answer:
        assert answer.status == 200
    return time.monotonic() - start


def test_a_connection_that_never_sends_anything_is_closed(port: int) -> None:
    start = time.monotonic()
    with connected(port) as silent:
        assert silent.recv(100).startswith(b"HTTP/1.1 408")
        assert time.monotonic() - start >= LIMIT / 2
        silent.setblocking(True)
        while silent.recv(1000):
            pass


@pytest.mark.parametrize(
    "begun",
    [b"", b"POST /v1/jo", HEAD, HEAD + b"\r\n", HEAD + b'\r\n{"member"'],
    ids=["nothing", "line", "headers", "head", "body"],
)
def test_a_request_that_comes_one_byte_at_a_time_is_refused(port: int, begun: bytes) -> None:
    with connected(port) as slow:
        slow.sendall(begun)
        assert dripped(slow, b"X: " + b"a" * 100_000).startswith(b"HTTP/1.1 40")
        assert served_in(port) < PATIENCE


def test_a_later_request_of_a_connection_has_no_more_time_than_the_first(patient: socket.socket) -> None:
    assert dripped(patient, HEAD + b"X: " + b"a" * 100_000).startswith(b"HTTP/1.1 408")


def test_a_body_that_goes_on_after_its_answer_ends_the_connection(port: int) -> None:
    with connected(port) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
        answer = dripped(slow, b"a" * 100_000)
        assert answer.startswith(b"HTTP/1.1 200")


def test_a_connection_may_be_idle_between_requests(patient: socket.socket) -> None:
    time.sleep(2 * LIMIT)
    ask(patient)


def test_endless_headers_are_refused(port: int) -> None:
    with connected(port) as large, suppress(BrokenPipeError, ConnectionResetError):
        for _ in range(100):
            large.sendall(HEAD + b"X: " + b"a" * request_limits.LARGEST_HEAD)
        assert large.recv(100).startswith(b"HTTP/1.1 4")
    with connected(port) as long_winded:
        long_winded.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * request_limits.LARGEST_HEAD)
        assert long_winded.recv(100).startswith(b"HTTP/1.1 431")


def test_hundreds_of_slow_connections_delay_no_other_client(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "SLOWEST_REQUEST", 3.0)
    with ExitStack() as stack:
        slow = []
        for number in range(400):
            slow.append(stack.enter_context(connected(port)))
            slow[-1].sendall(HEAD[: number % len(HEAD)])
        assert min(served_in(port) for _ in range(5)) < 3.0
        for connection in slow:
            assert connection.recv(100).startswith(b"HTTP/1.1 408")
        assert served_in(port) < PATIENCE


def test_connections_beyond_the_limit_are_refused_while_those_that_there_are_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(request_limits, "SLOWEST_REQUEST", PATIENCE)
    limits = ConnectionLimits(in_all=100, by_address=10)
    service = Service(ClusterCoordinator(ClusterSettings(1, 1, 1, 1), {}))
    with Server(service, "127.0.0.1", 0, None, limits) as server, ExitStack() as stack:
        port = server.port
        patient = stack.enter_context(connected(port))
        for _ in range(9):
            stack.enter_context(connected(port))
        for _ in range(30):
            with connected(port) as late:
                late.sendall(PAGE)
                assert late.recv(100).startswith(b"HTTP/1.1 503")
        with connected(port) as silent:
            assert silent.recv(100).startswith(b"HTTP/1.1 503")
        patient.sendall(PAGE)
        assert patient.recv(17) == b"HTTP/1.1 200 OK\r\n"
        stack.close()
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with suppress(OSError):
                assert served_in(port) < PATIENCE
                return
    raise AssertionError("nobody is served after the others have gone")


def test_connections_leave_files_for_the_process_itself() -> None:
    """A process that may open 250 files, and opens further ones itself as TensorFlow does, gets 300 connections."""
    script = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (250, 250))
from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.membership import ClusterSettings
from deepspeech.cluster.http.server import Server
from deepspeech.cluster.http.service import Service
with Server(Service(ClusterCoordinator(ClusterSettings(1, 1, 1, 1), {})), "127.0.0.1", 0, "x" * 16) as server:
    print(server.port, flush=True)
    sys.stdin.readline()
    files = [open("/dev/urandom") for _ in range(100)]
"""
    command = [sys.executable, "-c", script]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
        ExitStack() as stack,
    ):
        assert process.stdout is not None
        port = int(process.stdout.readline())
        idle = [stack.enter_context(connected(port)) for _ in range(300)]
        for connection in idle[200:]:
            with suppress(ConnectionResetError):
                assert connection.recv(100).startswith(b"HTTP/1.1 503")
        process.communicate("\n", timeout=PATIENCE)
    assert process.returncode == 0


def test_the_reserve_and_the_share_of_an_address_follow_from_how_many_files_may_be_open() -> None:
    assert ConnectionLimits.of(1024) == ConnectionLimits(896, 672)
    assert ConnectionLimits.of(100) == ConnectionLimits(50, 37)
