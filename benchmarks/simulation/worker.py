"""A simulated worker, which requests, computes and submits like `deepspeech.cluster.worker`, in simulated time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from typing import Any, Protocol, TypeVar

from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.errors import JobLostError, NotMemberError, ReplacedError
from deepspeech.cluster.coordination.membership import Applicant, Role
from deepspeech.cluster.http.client import POLL_SECONDS
from deepspeech.schedule.jobs import Job, Tally

from .events import Pause, Queue, Signal, Steps, Time
from .scenario import Scenario

Answer = TypeVar("Answer")
Asking = Generator[Pause, bool, Answer]

JOBS_AHEAD = 5
"""Number of jobs whose batches a worker prepares while it computes."""

ONE_BATCH = Tally(1, 1.0)


class Surroundings(Protocol):
    """A worker's interface to its cluster."""

    scenario: Scenario
    time: Time
    coordinator: ClusterCoordinator
    requests: Queue
    reading: Queue
    sending: Queue
    for_work: Signal
    for_round: Signal
    for_chief: Signal
    computed: int

    def call(self, name: str, act: Callable[..., Answer], *arguments: Any, **named: Any) -> Answer:
        """Call the coordinator, and record the cost."""

    def step_seconds(self, task: int) -> float:
        """Return the seconds that a worker's next gradient takes."""

    def wake(self, signal: Signal) -> None:
        """Wake the processes that wait for a signal; the coordinator checks again for each of them."""


class SimulatedWorker:
    """One process of a worker, from its start until it is killed."""

    def __init__(self, around: Surroundings, task: int, process: str) -> None:
        self._around = around
        self._applicant = Applicant(Role.WORKER, task, process)
        self._identity = ""
        self._jobs: deque[Job] = deque()
        self._asks_ahead = True
        self._is_first_step = True

    def live(self) -> Steps:
        """Join and work, and do so again after the coordinator has declared the worker lost."""
        coordinator, clock = self._around.coordinator, self._around.time
        while True:
            self._jobs.clear()
            self._identity = yield from self._request("join", lambda: coordinator.join(self._applicant, clock.now))
            try:
                while True:
                    yield from self._work()
            except (NotMemberError, ReplacedError):
                continue

    def _work(self) -> Asking[None]:
        """Do a step of the oldest job."""
        if not self._jobs:
            self._jobs.append((yield from self._poll("next_job", self._next_job, self._around.for_work)))
            self._asks_ahead = True
        try:
            yield from self._step(self._jobs[0])
            self._jobs.popleft()
        except JobLostError:
            numbers = [job.number for job in self._jobs]
            self._jobs.clear()
            now = self._around.time.now
            yield from self._request(
                "return_jobs", lambda: self._around.coordinator.return_jobs(self._identity, numbers, now)
            )
            self._around.wake(self._around.for_work)

    def _step(self, job: Job) -> Asking[None]:
        around, scenario, identity = self._around, self._around.scenario, self._identity
        coordinator, clock = around.coordinator, around.time
        number = yield from self._poll(
            "begin_step", lambda: coordinator.begin_step(identity, job.number, clock.now), around.for_round
        )
        self._ask_ahead()
        yield max(around.reading.wait(scenario.server_seconds), scenario.transfer_seconds)
        yield around.step_seconds(self._applicant.task) + self._is_first_step * scenario.first_step_seconds
        self._is_first_step = False
        yield max(around.sending.wait(scenario.server_seconds), scenario.transfer_seconds)
        around.computed += 1
        if coordinator.settings.has_spares:
            yield from self._request(
                "offer", lambda: coordinator.offer_gradient(identity, job.number, number, clock.now)
            )
        yield from self._request(
            "submit",
            lambda: coordinator.submit(
                identity, job.number, job.batches, ONE_BATCH, last=True, round_number=number, now=clock.now
            ),
        )
        clock.send(around.for_chief)

    def _ask_ahead(self) -> None:
        """Request the next jobs while the oldest is computed."""
        while self._asks_ahead and len(self._jobs) < JOBS_AHEAD:
            self._around.requests.wait(self._around.scenario.request_seconds)
            job = self._around.call("next_job", self._next_job)
            if job is None:
                self._asks_ahead = False
            else:
                self._jobs.append(job)

    def _next_job(self) -> Job | None:
        known = [job.number for job in self._jobs]
        job = self._around.coordinator.next_job(self._identity, self._around.time.now, known)
        return job if isinstance(job, Job) else None

    def beat(self, seconds: float) -> Steps:
        """Give signs of life, `seconds` apart."""
        around = self._around
        while True:
            yield seconds
            try:
                yield from self._request(
                    "heartbeat", lambda: around.coordinator.heartbeat(self._identity, around.time.now)
                )
            except (NotMemberError, ReplacedError):
                continue

    def _request(self, name: str, act: Callable[[], Answer]) -> Asking[Answer]:
        around, scenario = self._around, self._around.scenario
        yield around.requests.wait(scenario.request_seconds) + 2 * scenario.latency_seconds
        return around.call(name, act)

    def _poll(self, name: str, ask: Callable[[], Answer | None], changed: Signal) -> Asking[Answer]:
        """Ask until there is an answer: again after each change, and with a new request after POLL_SECONDS."""
        around = self._around
        while True:
            answer = yield from self._request(name, ask)
            deadline = around.time.now + POLL_SECONDS
            while answer is None and (yield (changed, deadline - around.time.now)):
                answer = around.call(name, ask)
            if answer is not None:
                return answer
