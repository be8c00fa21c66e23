"""Connections to the place of a worker reach the worker at its current address."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from deepspeech.cluster.addresses.forwarder import Forwarder

SECONDS = 20.0


@contextmanager
def worker(say: bytes) -> Iterator[str]:
    """Yield the address of a worker that accepts one connection, and answers the bytes sent to it with its own text."""

    def answer() -> None:
        connection, _ = listening.accept()
        listening.close()
        with connection:
            connection.sendall(say + connection.recv(100))

    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        pool.submit(answer)
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def ask(port: int, text: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), SECONDS) as connection:
        try:
            connection.sendall(text)
            return b"".join(iter(lambda: connection.recv(1 << 16), b""))
        except OSError:
            return b""


def test_a_place_is_where_its_worker_is_at_the_time() -> None:
    where: dict[int, str] = {}
    forwarder = Forwarder(3, where.get)
    forwarder.start()
    first, second, third = forwarder.ports
    with worker(b"one: ") as here, worker(b"two: ") as there, worker(b"three: ") as elsewhere:
        where |= {0: here, 1: there}
        assert ask(first, b"?") == b"one: ?"
        assert ask(second, b"?") == b"two: ?"
        assert ask(third, b"?") == b""  # nobody has joined there
        assert ask(first, b"?") == b""  # nobody listens there any more
        where[0] = elsewhere
        assert ask(first, b"!") == b"three: !"


def test_a_connection_for_which_no_descriptor_is_left_waits_and_costs_no_processor() -> None:
    script = """
import os, resource, sys, time
from deepspeech.cluster.addresses.forwarder import Forwarder
forwarder = Forwarder(1, {}.get)
forwarder.start()
print(forwarder.ports[0], flush=True)
sys.stdin.readline()
files = resource.getrlimit(resource.RLIMIT_NOFILE)
with open(os.devnull) as next_one:
    resource.setrlimit(resource.RLIMIT_NOFILE, (next_one.fileno(), files[1]))
sys.stdout.write("none is left\\n")
sys.stdout.flush()
sys.stdin.readline()
before = time.process_time()
time.sleep(1)
print(time.process_time() - before, flush=True)
resource.setrlimit(resource.RLIMIT_NOFILE, files)
sys.stdin.readline()
"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        port = int(process.stdout.readline())
        assert ask(port, b"?") == b""  # the thread runs
        process.stdin.write("\n")
        assert process.stdout.readline() == "none is left\n"
        with socket.create_connection(("127.0.0.1", port), SECONDS) as connection:
            process.stdin.write("\n")
            assert float(process.stdout.readline()) < 0.5
            assert connection.recv(1) == b""  # its turn has come: nobody has joined there
