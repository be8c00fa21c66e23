"""How many job exchanges a second the coordinator serves: simulated workers on loopback, over HTTP.

    python -m benchmarks.coordinator [--workers 1000] [--jobs 100000] [--seconds 20] [--rate 2500]

An exchange is a request for a job and one that hands in its result. The coordinator runs in a process of its own, the
workers in this one, each on a connection of its own and one request at a time. Together they offer `--rate` exchanges
a second. The time of an exchange counts from when it was due, so that it shows when the coordinator falls behind.
"""

import argparse
import asyncio
import json
import multiprocessing
import resource
import statistics
import time
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

JOINING_SECONDS = 3.0
"""Seconds that the workers have to join before the first exchange is due."""

TOKEN = "a secret of enough characters"


def serve(workers: int, jobs: int, pipe: Connection) -> None:
    """Serve one epoch of jobs until told to stop; send the peak memory in MB and the seconds of CPU."""
    coordinator = ClusterCoordinator(ClusterSettings(workers, 1, workers, workers, 60.0), {})
    training = TrainingCoordinator(ScheduleOptions(epoch=0), {SetName.TEST: Plan(jobs, 1, "test")})
    coordinator.open(training, time.monotonic())
    coordinator.allow_testing()
    with Server(Service(coordinator), "127.0.0.1", 0, TOKEN) as server:
        used = resource.getrusage(resource.RUSAGE_SELF)
        before = used.ru_utime + used.ru_stime
        pipe.send(server.port)
        pipe.recv()
    used = resource.getrusage(resource.RUSAGE_SELF)
    pipe.send((used.ru_maxrss / 1024, used.ru_utime + used.ru_stime - before))


class Worker:
    """A simulated worker: as little work as possible, so that it is the coordinator that is measured."""

    def __init__(self, port: int, task: int) -> None:
        self._port = port
        self._task = task

    async def run(self, first: float, interval: float, deadline: float, times: list[float]) -> None:
        """Exchange jobs until the deadline or the end of the epoch; each exchange's seconds go to `times`."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._reader, self._writer = reader, writer
        body = {"role": "worker", "task": self._task, "process": "p", "properties": {}}
        _, joined = await self._post(routes.JOIN, json.dumps(body))
        member = json.loads(joined)["member"]
        ask = json.dumps({"member": member})
        due = first
        while due < deadline:
            await asyncio.sleep(max(due - time.monotonic(), 0.0))
            status, answer = await self._post(routes.NEXT_JOB, ask)
            if status != 200:
                break
            job = json.loads(answer)
            result = {
                "member": member,
                "job": job["number"],
                "batches": job["batches"],
                "tally": {"utterances": len(job["batches"]), "loss_sum": 1.0},
            }
            status, answer = await self._post(routes.SUBMIT, json.dumps(result))
            assert status == 200, answer
            times.append(time.monotonic() - due)
            due += interval
        writer.close()

    async def _post(self, route: routes.Route, body: str) -> tuple[int, bytes]:
        head = (
            f"POST {route.path} HTTP/1.1\r\nHost: c\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write((head + body).encode())
        received = await self._reader.readuntil(b"\r\n\r\n")
        status = int(received[9:12])
        for line in received.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                return status, await self._reader.readexactly(int(value))
        return status, b""


async def work(port: int, workers: int, seconds: float, rate: float) -> tuple[list[float], float]:
    """Return the seconds of every exchange, and of all of them together."""
    times: list[float] = []
    start = time.monotonic() + JOINING_SECONDS
    interval = workers / rate
    await asyncio.gather(
        *(
            Worker(port, task).run(start + interval * task / workers, interval, start + seconds, times)
            for task in range(workers)
        )
    )
    return times, time.monotonic() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rate", type=float, default=2500.0)
    options = parser.parse_args()
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(options.workers, options.jobs, there), daemon=True
    )
    process.start()
    times, seconds = asyncio.run(work(here.recv(), options.workers, options.seconds, options.rate))
    here.send("stop")
    memory, cpu = here.recv()
    process.join()
    centiles = statistics.quantiles(times, n=100)
    print(f"{options.workers} workers, {options.jobs} jobs an epoch, {len(times)} exchanges in {seconds:.1f} s")
    print(f"exchanges a second: {len(times) / seconds:.0f}")
    print(f"an exchange: median {1000 * centiles[49]:.1f} ms, 99th percentile {1000 * centiles[98]:.1f} ms")
    print(f"the coordinator's CPU time for an exchange: {1e6 * cpu / len(times):.0f} microseconds")
    print(f"the coordinator's peak memory: {memory:.0f} MB")


if __name__ == "__main__":
    main()
