"""The simulated cluster: workers, parameter servers and a chief around the real coordinator."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.membership import Applicant, ClusterSettings, Role
from deepspeech.options import EarlyStoppingOptions, ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import SetName
from deepspeech.schedule.state import Plan, TrainingState

from .events import Process, Queue, Signal, Steps, Time
from .scenario import Kill, Scenario
from .worker import SimulatedWorker

Answer = TypeVar("Answer")

WAKE_SECONDS = 0.25
"""Seconds between checks of the chief, and of the coordinator for members that fell silent."""

GATHERING_SECONDS = 15.0
"""Seconds for which the chief waits for workers."""


@dataclass(frozen=True)
class Outcome:
    """The results of a simulated cluster in `seconds` since the chief began to hand out jobs.

    * `computed` and `counted` are numbers of gradients; `discarded` is the number of rounds without a step.
    * `coordinator_load` is the share of the time in which the coordinator was busy with requests.
    * `machine_seconds` is the time of this machine's processor in the coordinator's state machine.
    """

    scenario: Scenario
    seconds: float
    computed: int
    counted: int
    steps: int
    discarded: int
    rollbacks: int
    deaths: int
    lost_members: int
    requests: int
    coordinator_load: float
    machine_seconds: float

    @property
    def efficiency(self) -> float:
        """The throughput, relative to the same number of workers that never wait, fail or send anything."""
        return self.counted * self.scenario.compute_seconds / (self.scenario.workers * self.seconds)

    @property
    def lost_work(self) -> float:
        """The share of the computed gradients that are not in the weights."""
        return 1 - self.counted / self.computed if self.computed else 0.0

    @property
    def batches_per_second(self) -> float:
        """Batches that are counted in a second."""
        return self.counted / self.seconds

    @property
    def seconds_of_a_step(self) -> float:
        """Seconds from one step of the weights to the next."""
        return self.seconds / self.steps if self.steps else float("inf")


class Cluster:
    """A cluster in simulated time."""

    def __init__(self, scenario: Scenario, seed: int = 1) -> None:
        self.scenario = scenario
        self.time = Time()
        self.requests, self.reading, self.sending = (Queue(self.time) for _ in range(3))
        self.for_work, self.for_round, self.for_chief = Signal(), Signal(), Signal()
        self.computed = 0
        self.calls: Counter[str] = Counter()
        self.nanoseconds: Counter[str] = Counter()
        workers, servers = scenario.workers, scenario.servers
        settings = ClusterSettings(workers, servers, workers, scenario.aggregated, scenario.lease_seconds)
        self.coordinator = ClusterCoordinator(settings, {})
        self._random = random.Random(seed)
        self._counts: Counter[str] = Counter()
        self._saved = TrainingState()
        self._server_lost = False
        self._workers: dict[int, tuple[Process, Process]] = {}
        self._began = 0.0
        self._begin()

    def run(self, seconds: float, batches: int | None = None) -> Outcome:
        """Train for some seconds, or until a number of batches is counted, and return the results."""
        self.time.run(seconds, lambda: batches is not None and self.counted >= batches)
        counts, passed = self._counts, self.time.now - self._began
        return Outcome(
            self.scenario,
            passed,
            self.computed,
            self.counted,
            self.coordinator.counts.steps,
            counts["discarded"],
            counts["rollbacks"],
            counts["deaths"],
            self.coordinator.counts.lost_members,
            self.calls.total(),
            self.requests.busy_seconds / passed,
            self.nanoseconds.total() / 1e9,
        )

    @property
    def counted(self) -> int:
        """Batches that are in the weights."""
        training = self.coordinator.training
        if training is None:
            return self._counted_in(self._saved, None)
        return self._counted_in(training.state_without_epoch, training.progress)

    def call(self, name: str, act: Callable[..., Answer], *arguments: Any, **named: Any) -> Answer:
        """Call the coordinator, and record the cost."""
        begun = time.perf_counter_ns()
        try:
            return act(*arguments, **named)
        finally:
            self.nanoseconds[name] += time.perf_counter_ns() - begun
            self.calls[name] += 1

    def step_seconds(self, task: int) -> float:  # noqa: ARG002 - here, all workers are alike
        """Return the seconds that a worker's next gradient takes."""
        sigma = self.scenario.straggling
        return self.scenario.compute_seconds * self._random.lognormvariate(-sigma * sigma / 2, sigma)

    def wake(self, signal: Signal) -> None:
        """Wake the processes that wait for a signal; the coordinator checks again for each of them."""
        self.requests.wait(len(signal.waiting) * self.scenario.ask_seconds)
        self.time.send(signal, self.scenario.ask_seconds)

    # Details

    def _begin(self) -> None:
        scenario = self.scenario
        for task in range(scenario.servers):
            self.coordinator.join(Applicant(Role.PARAMETER_SERVER, task, "p"), 0.0)
        for task in range(scenario.workers):
            self._start_worker(task, after=self._random.random())
        self.time.start(self._servers())
        self.time.start(self._lead())
        self.time.start(self._look_for_lost())
        self.time.start(self._fail_workers())
        self.time.start(self._fail_servers())
        for kill in scenario.kills:
            self.time.start(self._kill(kill))

    def _start_worker(self, task: int, after: float = 0.0) -> None:
        worker = SimulatedWorker(self, task, str(self._random.random()))
        seconds = self.coordinator.settings.seconds_between_signs
        self._workers[task] = (
            self.time.start(worker.live(), after),
            self.time.start(worker.beat(seconds), after + seconds * self._random.random()),
        )

    def _counted_in(self, state: TrainingState, progress: tuple[SetName, int, int, int] | None) -> int:
        opened = len(state.open_epoch.done) if state.open_epoch else 0
        return state.epoch * self.scenario.batches + (progress[2] if progress else opened)

    def _lead(self) -> Steps:
        """Lead as `deepspeech.cluster.chief` does."""
        workers = self.scenario.workers
        while self.time.now < GATHERING_SECONDS and len(self.coordinator.members) < workers + self.scenario.servers:
            yield WAKE_SECONDS
        self._open()
        self._began = self.time.now
        save_at = self.time.now + self.scenario.checkpoint_seconds
        while True:
            if self._server_lost:
                yield from self._go_back()
            elif self.time.now >= save_at:
                yield self.scenario.save_seconds
                self._saved = self.call("save", self._state)
                save_at = self.time.now + self.scenario.checkpoint_seconds
            else:
                yield from self._end_round()

    def _state(self) -> TrainingState:
        assert self.coordinator.training is not None
        return self.coordinator.training.state

    def _end_round(self) -> Steps:
        self.coordinator.take_reports()
        end = self.call("close_round", self.coordinator.close_round, self.time.now)
        if end is None:
            yield (self.for_chief, WAKE_SECONDS)
            return
        yield self.scenario.apply_seconds + 2 * self.scenario.latency_seconds
        if not self._server_lost:
            self.call("end_round", self.coordinator.end_round, end)
            self._counts["discarded"] += end.count == 0
            self._wake_all()

    def _go_back(self) -> Steps:
        """Go back to the last checkpoint, after the lost parameter server is back."""
        self._server_lost = False
        self._counts["rollbacks"] += 1
        self.coordinator.suspend()
        self._wake_all()
        yield self.scenario.restart_seconds + self.scenario.load_seconds
        self._open()

    def _open(self) -> None:
        plans = {SetName.TRAIN: Plan(self.scenario.batches, 1, "train")}
        schedule = ScheduleOptions(epoch=10**9, validation_step=0, early_stopping=EarlyStoppingOptions(enabled=False))
        self.coordinator.open(TrainingCoordinator(schedule, plans, state=self._saved), self.time.now)
        self._wake_all()

    def _wake_all(self) -> None:
        self.wake(self.for_work)
        self.wake(self.for_round)

    def _look_for_lost(self) -> Steps:
        while True:
            yield WAKE_SECONDS
            yield self.requests.wait(0.0)
            lost = self.coordinator.counts.lost_members
            self.call("tick", self.coordinator.tick, self.time.now)
            if self.coordinator.counts.lost_members > lost:
                self.wake(self.for_work)
            self.time.send(self.for_chief)

    def _servers(self) -> Steps:
        """Give the parameter servers' signs of life."""
        servers = [member.identity for member in self.coordinator.members if not member.works]
        while True:
            for identity in servers:
                self.requests.wait(self.scenario.request_seconds)
                self.call("heartbeat", self.coordinator.heartbeat, identity, self.time.now)
            yield self.coordinator.settings.seconds_between_signs

    def _fail_workers(self) -> Steps:
        rate = self.scenario.workers / (3600 * self.scenario.hours_between_failures)
        while rate > 0:
            yield self._random.expovariate(rate)
            task = self._random.randrange(self.scenario.workers)
            if task in self._workers:
                self.time.start(self._kill(Kill(0.0, task, self.scenario.restart_seconds)))

    def _kill(self, kill: Kill) -> Steps:
        yield kill.at_seconds
        self._counts["deaths"] += 1
        for process in self._workers.pop(kill.task):
            self.time.kill(process)
        yield kill.away_seconds
        self._start_worker(kill.task)

    def _fail_servers(self) -> Steps:
        rate = self.scenario.servers / (3600 * self.scenario.hours_between_server_failures)
        while rate > 0:
            yield self._random.expovariate(rate)
            self._server_lost = True
            self.time.send(self.for_chief)
