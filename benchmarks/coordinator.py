"""Measures the job exchanges a second that the coordinator serves, with simulated workers over HTTP on loopback.

    python -m benchmarks.coordinator [--workers 1000] [--jobs 100000] [--seconds 20] [--rate 2500]
    python -m benchmarks.coordinator --workers 10000 --seconds 60 --rate 200 --lease 60 --silent 100

An exchange is a request for a job and a request that submits its result. The coordinator runs in a separate process;
the workers run in this one, each with its own connection and one request at a time. Together they offer `--rate`
exchanges a second, and each gives signs of life at the interval that the coordinator sets. The time of an exchange
counts from when it was due, so that it shows when the coordinator falls behind. `--silent` workers fall silent halfway;
at the end, they are compared with the members that the coordinator has lost.
"""

import argparse
import asyncio
import json
import multiprocessing
import resource
import statistics
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.membership import ClusterSettings
from deepspeech.cluster.http import routes
from deepspeech.cluster.http.server import Server
from deepspeech.cluster.http.service import Service
from deepspeech.options import ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import SetName
from deepspeech.schedule.state import Plan
from deepspeech.util.web.connections import allow_more_files

from .processes.arguments import above_zero, at_least

JOINS_PER_SECOND = 500.0
"""Workers that join in a second, before the first exchange is due."""

TOKEN = "a secret of enough characters"


@dataclass
class Times:
    """The seconds of each exchange, and of each sign of life."""

    exchanges: list[float] = field(default_factory=list)
    signs: list[float] = field(default_factory=list)


def serve(workers: int, jobs: int, lease: float, pipe: Connection) -> None:
    """Serve one epoch of jobs until told to stop; send the peak memory in MB, CPU seconds, and the members' tasks."""
    coordinator = ClusterCoordinator(ClusterSettings(workers, 1, workers, workers, lease), {})
    training = TrainingCoordinator(ScheduleOptions(epoch=0), {SetName.TEST: Plan(jobs, 1, "test")})
    coordinator.open(training, time.monotonic())
    coordinator.allow_testing()
    with Server(Service(coordinator), "127.0.0.1", 0, TOKEN) as server:
        pipe.send(server.port)
        pipe.recv()
        before = _cpu_seconds()
        pipe.recv()
        cpu, left = _cpu_seconds() - before, {member.applicant.task for member in coordinator.members}
    pipe.send((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, cpu, left))


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Worker:
    """A simulated worker, which does as little as possible, so that the coordinator is measured and not the worker."""

    def __init__(self, port: int, task: int, times: Times) -> None:
        self._port = port
        self._task = task
        self._times = times
        self._one_request = asyncio.Lock()

    async def join(self, after: float) -> None:
        """Connect and join."""
        await asyncio.sleep(after)
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        body = {"role": "worker", "task": self._task, "process": "p", "properties": {}}
        _, joined = await self._post(routes.JOIN, json.dumps(body))
        self._joined = json.loads(joined)
        self._beating = asyncio.create_task(self._beat())

    async def run(self, first: float, interval: float, deadline: float) -> None:
        """Exchange jobs until the deadline or the end of the epoch, and give signs of life until `leave`."""
        ask = json.dumps({"member": self._joined["member"]})
        due = first
        while due < deadline:
            await asyncio.sleep(max(due - time.monotonic(), 0.0))
            status, answer = await self._post(routes.NEXT_JOB, ask)
            if status != 200:
                break
            job = json.loads(answer)
            result = {
                "member": self._joined["member"],
                "job": job["number"],
                "batches": job["batches"],
                "tally": {"utterances": len(job["batches"]), "loss_sum": 1.0},
            }
            status, answer = await self._post(routes.SUBMIT, json.dumps(result))
            assert status == 200, answer
            self._times.exchanges.append(time.monotonic() - due)
            due += interval

    def fall_silent(self) -> None:
        """Send nothing more, but leave the connection open."""
        self._beating.cancel()

    async def _beat(self) -> None:
        between = self._joined["seconds_between_signs"]
        body = json.dumps({"member": self._joined["member"]})
        due = time.monotonic() + between * (self._task % 1000) / 1000
        while True:
            await asyncio.sleep(max(due - time.monotonic(), 0.0))
            status, answer = await self._post(routes.HEARTBEAT, body)
            assert status == 200, answer
            self._times.signs.append(time.monotonic() - due)
            due += between

    async def _post(self, route: routes.Route, body: str) -> tuple[int, bytes]:
        head = (
            f"POST {route.path} HTTP/1.1\r\nHost: c\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Content-Type: {routes.JSON}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        async with self._one_request:
            self._writer.write((head + body).encode())
            received = await self._reader.readuntil(b"\r\n\r\n")
            status = int(received[9:12])
            for line in received.split(b"\r\n"):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    return status, await self._reader.readexactly(int(value))
        return status, b""


async def work(port: int, options: argparse.Namespace, pipe: Connection) -> tuple[Times, float]:
    """Return the seconds of every exchange and sign of life, and the seconds of the whole run."""
    times, count = Times(), options.workers
    workers = [Worker(port, task, times) for task in range(count)]
    await asyncio.gather(*(worker.join(task / JOINS_PER_SECOND) for task, worker in enumerate(workers)))
    pipe.send("joined")
    times.signs.clear()
    start, interval = time.monotonic(), count / options.rate
    half, end = start + options.seconds / 2, start + options.seconds
    running = [
        worker.run(start + interval * task / count, interval, half if task < options.silent else end)
        for task, worker in enumerate(workers)
    ]
    for worker in workers[: options.silent]:
        asyncio.get_running_loop().call_later(options.seconds / 2, worker.fall_silent)
    await asyncio.gather(*running)
    await asyncio.sleep(max(end - time.monotonic(), 0.0))
    pipe.send("stop")
    return times, time.monotonic() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=at_least(1), default=1000)
    parser.add_argument("--jobs", type=at_least(1), default=100_000)
    parser.add_argument("--seconds", type=above_zero, default=20.0)
    parser.add_argument("--rate", type=above_zero, default=2500.0)
    parser.add_argument("--lease", type=above_zero, default=60.0)
    parser.add_argument("--silent", type=at_least(0), default=0)
    options = parser.parse_args()
    allow_more_files()
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(options.workers, options.jobs, options.lease, there), daemon=True
    )
    process.start()
    times, seconds = asyncio.run(work(here.recv(), options, here))
    memory, cpu, left = here.recv()
    process.join()
    exchanged, signs = len(times.exchanges), len(times.signs)
    print(f"{options.workers} workers, {options.jobs} jobs an epoch, {exchanged} exchanges in {seconds:.1f} s")
    print(f"a second: {exchanged / seconds:.0f} exchanges, {signs / seconds:.0f} signs of life")
    for name, measured in (("an exchange", times.exchanges), ("a sign of life", times.signs)):
        centiles = statistics.quantiles(measured, n=100) if len(measured) > 1 else [0.0] * 99
        print(f"{name}: median {1000 * centiles[49]:.1f} ms, 99th percentile {1000 * centiles[98]:.1f} ms")
    print(f"the coordinator's CPU time for a request: {1e6 * cpu / (2 * exchanged + signs):.0f} microseconds")
    print(f"the coordinator's peak memory: {memory:.0f} MB")
    told = set(range(options.silent)) if options.seconds / 2 > options.lease else set()
    lost = set(range(options.workers)) - left
    print(f"members lost: {len(lost)}, wrongly: {len(lost - set(range(options.silent)))}, not yet: {len(told - lost)}")


if __name__ == "__main__":
    main()
