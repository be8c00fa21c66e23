"""Starts the program fast: real processes, forked from one that has imported TensorFlow but done nothing with it."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module, reload
from pathlib import Path
from threading import Lock
from typing import IO, Any

from xdg import BaseDirectory

from deepspeech.commands import ProcessEnd
from deepspeech.options import SessionOptions

POLL_SECONDS = 0.02
CLONE_NEWNET, CLONE_NEWNS = 0x40000000, 0x00020000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000

IMPORTED = ("deepspeech.cli.train", "deepspeech.training.run", "deepspeech.cluster.launch")
"""What the server imports besides TensorFlow, so that its children need not."""


@dataclass(frozen=True)
class StartRequest:
    """A process to start: the program's arguments, where, with which variables besides this process's own, and its log.

    Stdout goes to the log, too, if no other file is given. With more than one of `devices`, this machine's CPU stands
    for as many devices, as other machines have GPUs. `before` is a function, MODULE:NAME, to call in the process first.
    In a network `namespace`, a file of `hosts` may stand for /etc/hosts.
    """

    arguments: Sequence[str]
    folder: str
    environment: Mapping[str, str]
    log: str
    stdout: str = ""
    namespace: str | None = None
    devices: int = 1
    before: str = ""
    hosts: str = ""


class ForkServer:
    """The process that forks the others; those that are left end with it. Any number of threads may ask it."""

    def __init__(self) -> None:
        # A library that starts threads when it is imported would leave their locks to the children.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env=environment,
        )
        self._lock = Lock()

    def start(self, request: StartRequest) -> ForkedProcess:
        return ForkedProcess(self, self.ask({**asdict(request), "environment": {**os.environ, **request.environment}}))

    def start_piped(self, arguments: Sequence[str], folder: str) -> ForkedProcess:
        """Start the program with pipes for its stdout and stderr, as `subprocess.Popen` does."""
        (stdout, to_stdout), (stderr, to_stderr) = os.pipe(), os.pipe()
        log, results = (f"/proc/{os.getpid()}/fd/{end}" for end in (to_stderr, to_stdout))
        process = self.start(StartRequest(arguments, folder, {}, log, results))
        for end in (to_stdout, to_stderr):
            os.close(end)
        process.stdout, process.stderr = os.fdopen(stdout, encoding="utf-8"), os.fdopen(stderr, encoding="utf-8")
        return process

    def ask(self, question: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            print(json.dumps(question), file=self._process.stdin)
            return json.loads(self._process.stdout.readline())


@dataclass
class ForkedProcess:
    """As much of `subprocess.Popen` as tests need, for a process of the fork server."""

    server: ForkServer
    pid: int
    returncode: int | None = None
    stdout: IO[str] | None = None
    stderr: IO[str] | None = None

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

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        assert self.stdout is not None
        assert self.stderr is not None
        with ThreadPoolExecutor(2) as pool:
            texts = [pool.submit(stream.read) for stream in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        for stream in (self.stdout, self.stderr):
            stream.close()
        return texts[0].result(), texts[1].result()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@cache
def fork_server() -> ForkServer:
    """Return the server of this test run."""
    return ForkServer()


def run_program(request: StartRequest, stdout: int, stderr: int) -> int:
    """Be the program, in a forked process with these files for its output; return its exit code."""
    from deepspeech.cli.train import main

    if request.namespace is not None:
        enter_network(request.namespace, request.hosts)
    for descriptor, opened in enumerate((os.open(os.devnull, os.O_RDONLY), stdout, stderr)):
        os.dup2(opened, descriptor)
        os.close(opened)
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    reload(BaseDirectory)  # it reads the environment when it is imported
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run below nohup
    if request.devices > 1:
        divide_processor(request.devices)
    if request.before:
        module, name = request.before.split(":")
        vars(import_module(module))[name]()
    return main(request.arguments)


def enter_network(namespace: str, hosts: str) -> None:
    """Move this process into a network namespace, where a file of hosts, if one is named, stands for /etc/hosts."""
    system = ctypes.CDLL(None)
    with Path("/run/netns", namespace).open() as file:
        assert system.setns(file.fileno(), CLONE_NEWNET) == 0
    if hosts:
        assert system.unshare(CLONE_NEWNS) == 0
        assert system.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0
        assert system.mount(hosts.encode(), b"/etc/hosts", None, MS_BIND, None) == 0


def divide_processor(devices: int) -> None:
    from deepspeech.cluster import launch, node

    configure = vars(node)["session_config"]

    def session_config(options: SessionOptions) -> Any:
        config = configure(options)
        config.device_count["CPU"] = devices
        return config

    vars(node)["session_config"] = session_config
    vars(launch)["compute_devices"] = lambda: tuple(f"/cpu:{index}" for index in range(devices))


def import_program() -> None:
    """Import what takes the program seconds, and nothing that starts a thread."""
    import_module("deepspeech.cli.tensorflow_import").import_tensorflow()
    for module in IMPORTED:
        import_module(module)
    assert len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - the names are numbers, not files


def serve(children: set[int], question: str, end: ProcessEnd) -> int | None:
    """Start a process and return its number, or return the exit code of one, None if it runs."""
    asked = json.loads(question)
    if isinstance(asked, int):
        pid, status = os.waitpid(asked, os.WNOHANG)
        if not pid:
            return None
        children.remove(pid)
        return os.waitstatus_to_exitcode(status)
    request = StartRequest(**asked)
    files = [
        os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        for path in (request.stdout or request.log, request.log)
    ]
    pid = os.fork()
    if not pid:
        sys.exit(end.code_of(lambda: run_program(request, *files)))
    for file in files:
        os.close(file)
    children.add(pid)
    return pid


if __name__ == "__main__":
    process_end = ProcessEnd()
    import_program()
    gc.freeze()  # or else the children's garbage collection copies all the memory that they share
    alive: set[int] = set()
    for line in sys.stdin:
        print(json.dumps(serve(alive, line, process_end)), flush=True)
    for child in alive:
        os.kill(child, signal.SIGKILL)
