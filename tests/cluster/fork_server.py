"""Starts the program fast: real processes, forked from one that has imported TensorFlow but done nothing with it."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from deepspeech.options import SessionOptions

POLL_SECONDS = 0.05
CLONE_NEWNET = 0x40000000


@dataclass(frozen=True)
class StartRequest:
    """A process to start: the program's arguments, where, with which variables, its log, its network namespace.

    With more than one of `devices`, this machine's CPU stands for as many devices, as other machines have GPUs.
    """

    arguments: Sequence[str]
    folder: str
    environment: Mapping[str, str]
    log: str
    namespace: str | None
    devices: int = 1


class ForkServer:
    """The process that forks the others; those that are left end with it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def start(self, request: StartRequest) -> ForkedProcess:
        return ForkedProcess(self, self.ask(asdict(request)) or 0)

    def ask(self, question: object) -> int | None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(question), file=self._process.stdin)
        answer: int | None = json.loads(self._process.stdout.readline())
        return answer


@dataclass
class ForkedProcess:
    """As much of `subprocess.Popen` as tests need, for a process of the fork server."""

    server: ForkServer
    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self.server.ask(self.pid)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            time.sleep(POLL_SECONDS)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@cache
def fork_server() -> ForkServer:
    """Return the server of this test run."""
    return ForkServer()


def run_program(request: StartRequest) -> int:
    """Be the program, in a forked process; return its exit code."""
    from deepspeech.cli.train import main

    if request.namespace is not None:
        with Path("/run/netns", request.namespace).open() as file:
            assert ctypes.CDLL(None).setns(file.fileno(), CLONE_NEWNET) == 0
    log = os.open(request.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(request.folder)
    os.environ.update(request.environment)
    if request.devices > 1:
        divide_processor(request.devices)
    return main(request.arguments)


def divide_processor(devices: int) -> None:
    from deepspeech.cluster import launch, node

    configure = vars(node)["session_config"]

    def session_config(options: SessionOptions) -> Any:
        config = configure(options)
        config.device_count["CPU"] = devices
        return config

    vars(node)["session_config"] = session_config
    vars(launch)["compute_devices"] = lambda: tuple(f"/cpu:{index}" for index in range(devices))


def serve(children: set[int], question: str) -> int | None:
    """Start a process and return its number, or return the exit code of one, None if it runs."""
    asked = json.loads(question)
    if isinstance(asked, int):
        pid, status = os.waitpid(asked, os.WNOHANG)
        if not pid:
            return None
        children.remove(pid)
        return os.waitstatus_to_exitcode(status)
    pid = os.fork()
    if not pid:
        sys.exit(run_program(StartRequest(**asked)))
    children.add(pid)
    return pid


if __name__ == "__main__":
    alive: set[int] = set()
    for line in sys.stdin:
        print(json.dumps(serve(alive, line)), flush=True)
    for child in alive:
        os.kill(child, signal.SIGKILL)
