"""A cluster of local processes, which can be killed and whose steps are read from their logs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass

from ..processes.ports import free_ports

ANSWERED = re.compile(r"I (/v1/\S+) \{.*?\} -> 200 (\{.*\})")
"""A node's log line for an answered request."""

PATIENCE_SECONDS = 180.0

ROUNDS_WATCHED = 10
"""Rounds over which to look for a moment between them; one that is brief may be missed."""


@dataclass(frozen=True)
class Step:
    """A worker's step: when it was let into a round, and when its result was taken."""

    round: int
    begun: float
    ended: float

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.begun


class Processes:
    """A parameter server and two workers, each worker on its own processor, as a context manager."""

    def __init__(self, flags: Sequence[str], batches: int) -> None:
        """Train with the flags; an epoch has this number of batches."""
        server, *workers, self._port = free_ports(4)
        hosts = [f"--ps_hosts=localhost:{server}", f"--worker_hosts={','.join(f'localhost:{w}' for w in workers)}"]
        self._command = [sys.executable, "-m", "deepspeech", *flags, *hosts, f"--coord_port={self._port}"]
        self._batches = batches
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._joined: list[float] = []
        self._steps: dict[int, list[Step]] = {0: [], 1: []}

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            process.kill()
            process.wait()

    def start(self) -> None:
        """Start all processes."""
        for job, task in (("ps", 0), ("worker", 0), ("worker", 1)):
            self._start(job, task)

    def wait_for_steps(self, count: int) -> None:
        """Wait until worker 1 has done `count` more steps."""
        wanted = len(self._steps[1]) + count
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(self._steps[1]) < wanted:
            if time.monotonic() > deadline or any(each.poll() is not None for each in self._running.values()):
                raise SystemExit("the cluster does not train")
            time.sleep(0.01)

    def kill_and_restart(self, task: int) -> tuple[float, float, float]:
        """Kill and restart a worker; return the times when it was killed, had joined, and had done its first step."""
        process = self._running[f"worker {task}"]
        process.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        process.wait()
        self._start("worker", task)
        self.wait_for_steps(1)
        return killed, self._joined[-1], self._steps[task][-1].ended

    def counted(self) -> tuple[int, int]:
        """Return the number of batches counted, and of results taken."""
        with urllib.request.urlopen(f"http://localhost:{self._port}/v1/status", timeout=10) as answer:
            status = json.load(answer)
        opened = status["open_epoch"] or {"batches_done": 0}
        return status["epochs_done"] * self._batches + opened["batches_done"], status["counts"]["results"]

    def discarded(self) -> int:
        """Return the number of results taken and not counted, at a moment when no round is open that has some."""
        least, before, rounds = sys.maxsize, -1, 0
        while rounds < ROUNDS_WATCHED:
            counted, results = self.counted()
            least, before, rounds = min(least, results - counted), counted, rounds + (counted != before)
        return least

    def steps(self, task: int) -> list[Step]:
        """Return a worker's steps."""
        return list(self._steps[task])

    def _start(self, job: str, task: int) -> None:
        flags = [f"--job_name={job}", f"--task_index={task}", "--log_traffic", "--noshow_progressbar"]
        core = sorted(os.sched_getaffinity(0))[-1 if task else 0]
        command = ["taskset", "--cpu-list", str(core), *self._command, *flags, "--intra_op_parallelism_threads=1"]
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        self._running[f"{job} {task}"] = process
        threading.Thread(target=self._read, args=(process, job, task), daemon=True).start()

    def _read(self, process: subprocess.Popen[str], job: str, task: int) -> None:
        assert process.stderr is not None
        begun, number = 0.0, 0
        for line in process.stderr:
            now, answered = time.monotonic(), ANSWERED.match(line)
            if not answered or job == "ps":
                continue
            if answered[1] == "/v1/join":
                self._joined.append(now)
            elif answered[1] == "/v1/steps":
                begun, number = now, json.loads(answered[2])["round"]
            elif answered[1] == "/v1/results":
                self._steps[task].append(Step(number, begun, now))
