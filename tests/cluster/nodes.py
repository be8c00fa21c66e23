"""A cluster of real processes on this machine, over the tiny corpus."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from fork_server import ForkedProcess, StartRequest, fork_server
from program import Program

from benchmarks.processes.ports import free_ports
from deepspeech.cluster.http.client import RETRY_SECONDS

PATIENCE = 150.0
"""Seconds for anything to happen, on a busy machine."""


@dataclass
class Cluster:
    """Starts nodes by name, "ps 0" or "worker 1", with common flags; ends all of them at the end of the context.

    `namespaces` are the network namespaces of nodes that have one; there, the file `names_of_hosts` replaces
    /etc/hosts. Unless `forked`, nodes are started from the command line.
    """

    program: Program
    flags: Sequence[str]
    servers: int = 1
    workers: int = 2
    processes: dict[str, subprocess.Popen[bytes] | ForkedProcess] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)
    hosts: tuple[list[str], list[str]] | None = None
    environment: dict[str, str] = field(default_factory=dict)
    address: str = "localhost"
    token: str = ""
    forked: bool = True
    devices: int = 1
    names_of_hosts: str = ""

    def __post_init__(self) -> None:
        self.port, *ports = free_ports(1 + self.servers + self.workers)
        if self.hosts is None:
            hosts = [f"localhost:{port}" for port in ports]
            self.hosts = hosts[: self.servers], hosts[self.servers :]

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    @property
    def names(self) -> list[str]:
        return [f"ps {task}" for task in range(self.servers)] + [f"worker {task}" for task in range(self.workers)]

    def start(self, *names: str, flags: Sequence[str] = ()) -> None:
        for name in names or self.names:
            patient = f"--coord_retries={PATIENCE / RETRY_SECONDS:.0f}"
            arguments = [patient, *self.flags, *self.place_of(name), "--intra_op_parallelism_threads=1", *flags]
            self.processes[name] = self._fork(name, arguments) if self.forked else self._run(name, arguments)

    def place_of(self, name: str) -> list[str]:
        """Return the flags that tell a process which node of the cluster it is."""
        assert self.hosts is not None
        job, task = name.split()
        servers = [f"--ps_hosts={','.join(self.hosts[0])}"] if self.servers else ["--sync=allreduce"]
        return [
            *(f"--coord_port={self.port}", *servers),
            *(f"--worker_hosts={','.join(self.hosts[1])}", f"--job_name={job}", f"--task_index={task}"),
        ]

    def environment_of(self, _name: str) -> dict[str, str]:
        """Return the environment variables that a node has in addition to this process's."""
        return self.environment

    def _fork(self, name: str, arguments: Sequence[str]) -> ForkedProcess:
        folder, log = str(self.program.folder), str(self._log(name))
        namespace = self.namespaces.get(name)
        return fork_server().start(
            StartRequest(
                arguments,
                folder,
                self.environment_of(name),
                log,
                namespace=namespace,
                devices=self.devices,
                hosts=self.names_of_hosts,
            )
        )

    def _run(self, name: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "deepspeech", *arguments]
        environment = {**os.environ, **self.environment_of(name)}
        with self._log(name).open("ab") as log:
            return subprocess.Popen(command, cwd=self.program.folder, stderr=log, stdout=log, env=environment)

    def kill(self, name: str) -> None:
        """End a node with SIGKILL."""
        self.processes[name].kill()
        self.processes[name].wait()

    def log(self, name: str) -> str:
        return self._log(name).read_text(errors="replace") if self._log(name).exists() else ""

    def errors(self, name: str) -> list[str]:
        """Return the node's output without information and warnings."""
        return [line for line in self.log(name).splitlines() if line.startswith("deepspeech:")]

    def status(self) -> dict[str, Any]:
        """Return the coordinator's status, as soon as it answers."""
        return self.wait_for(bool)

    def _status_if_answered(self) -> dict[str, Any]:
        request = urllib.request.Request(f"http://{self.address}:{self.port}/v1/status")
        request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                status: dict[str, Any] = json.load(answer)
                return status
        except OSError:
            return {}

    def wait_for(self, condition: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Wait until the coordinator's status is as wanted, and return it."""
        deadline = time.monotonic() + PATIENCE
        status: dict[str, Any] = {}
        while time.monotonic() < deadline:
            status = self._status_if_answered()
            if status and condition(status):
                return status
            if self.processes["worker 0"].poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError(f"did not happen; the last status was {status}\n{self.logs()}")

    def until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds, for example on a node's output."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, self.logs()
            time.sleep(0.05)

    def wait(self, *names: str, seconds: float = PATIENCE) -> list[int]:
        """Return the exit codes of nodes, once they have ended by themselves."""
        deadline = time.monotonic() + seconds
        codes = []
        for name in names or self.processes:
            try:
                codes.append(self.processes[name].wait(max(deadline - time.monotonic(), 0.01)))
            except subprocess.TimeoutExpired:
                raise AssertionError(f"{name} did not end\n{self.logs()}") from None
        return codes

    def logs(self) -> str:
        return "\n".join(f"== {name}\n{self.log(name)[-3000:]}" for name in self.names)

    def _log(self, name: str) -> Path:
        return self.program.folder / f"{name.replace(' ', '-')}.log"


def side_by_side(program: Program, names: Sequence[str], check: Callable[[Program, str], None]) -> None:
    """Check what mostly waits for each of the names at once, with folders of their own."""

    def check_one(name: str) -> None:
        folder = program.folder / name.replace(" ", "-")
        folder.mkdir()
        check(replace(program, folder=folder), name)

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(check_one, names))


def need_network_namespaces() -> None:
    """Skip the test where no namespace can be made, for example without root or in most containers."""
    name = f"tried{os.getpid()}"
    try:
        subprocess.run(["ip", "netns", "add", name], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespaces can be made here ({error})")
    subprocess.run(["ip", "netns", "del", name], check=True)


def losses(log: str, title: str) -> list[float]:
    """Return the losses of all epochs in the chief's log; the title is "Training" or "Validation"."""
    return [float(loss) for loss in re.findall(rf"{title} of epoch \d+: loss ([\d.]+)", log)]


def steps_counted(count: int) -> Callable[[dict[str, Any]], bool]:
    return lambda status: status["counts"]["steps"] >= count


def batches_counted(log: str) -> Counter[tuple[str, int, int]]:
    """Return how often each batch of each set and epoch (from 1) was counted."""
    return Counter(
        (name, int(epoch), int(batch))
        for name, epoch, batches in re.findall(r"counted: (\w+) set, epoch (\d+), batches \[(.*)\]", log)
        for batch in batches.split(",")
    )


def utterances_applied(log: str) -> int:
    """Return, for each parameter server, the number of utterances whose gradients its steps had in total."""
    steps = [json.loads(step) for step in re.findall(r"applied: gradients of (\[.*\]) utterances", log)]
    assert all(len(set(step)) == 1 for step in steps)
    return sum(step[0] for step in steps)
