"""Whole trainings under a coordinator, in which workers fail at random."""

import json
import random
from collections import Counter
from dataclasses import dataclass, field

from coordinators import LEASE, TRAIN, cluster, joined, submit, training
from hypothesis import given, settings
from hypothesis import strategies as st

from deepspeech.cluster.coordination.errors import JobLostError, NotMemberError, ReplacedError
from deepspeech.cluster.coordination.rounds import NUMBERS_PER_ROUND, RoundEnd
from deepspeech.schedule.coordinator import NoJob
from deepspeech.schedule.jobs import Job, JobResult, Tally
from deepspeech.schedule.state import TrainingState

Batches = Counter[tuple[int, int]]
"""How often each batch of each epoch occurs."""


@dataclass
class Accumulator:
    """Like TensorFlow's: drops gradients with a lower number than its own, which grows by one when it is emptied."""

    number: int = 0
    summed: Batches = field(default_factory=Counter)

    def add(self, number: int, batch: tuple[int, int]) -> None:
        if number >= self.number:
            self.summed[batch] += 1

    def take(self, round_number: int) -> Batches:
        """Return the sum as `deepspeech.cluster.graph` does, and drop gradients that arrive later for the round."""
        self.number = round_number + 1
        summed, self.summed = self.summed, Counter()
        self.number += summed.total() > 0
        return summed


@dataclass
class Working:
    """A worker's state: its jobs, with the number of their finished batches, and the round that it computes for."""

    identity: str
    held: list[tuple[Job, int]] = field(default_factory=list)
    computes_for: int | None = None
    may_send: bool = False


@dataclass
class Simulation:
    """Workers at random over a coordinator, with kills, silence, late results and restarts of the coordinator."""

    seed: int
    workers: int
    batches: int
    per_job: int
    aggregate: int
    replicas: int
    now: float = 0.0
    weights: Batches = field(default_factory=Counter)
    saved: tuple[object, Batches] | None = None

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.working: dict[int, Working] = {}
        self.accumulator = Accumulator()
        self.ending: RoundEnd | None = None
        self.first_round = 0
        self.start(None)

    def start(self, state: TrainingState | None) -> None:
        self.first_round += 1_000_000
        self.coordinator = cluster(
            self.workers, replicas=self.replicas, aggregate=self.aggregate, first_round=self.first_round
        )
        self.accumulator.take(self.first_round - NUMBERS_PER_ROUND)
        self.coordinator.open(training(self.batches, 2, dev=3, test=2, per_job=self.per_job, state=state))
        self.ending = None
        self.working.clear()

    def run(self) -> Batches:
        for _ in range(20_000):
            self.now += self.random.random()
            self.coordinator.tick(self.now)
            task = self.random.randrange(self.workers)
            try:
                if self.act(task) is NoJob.OVER:
                    return self.weights
            except (NotMemberError, ReplacedError):
                self.working.pop(task, None)
            except JobLostError:
                worker = self.working[task]
                self.coordinator.return_jobs(worker.identity, [job.number for job, _ in worker.held], self.now)
                self.working[task] = Working(worker.identity)
            self.lead()
        raise AssertionError("training never ends")

    def act(self, task: int) -> NoJob | None:
        if task not in self.working or self.random.random() < 0.02:  # started, or killed and restarted
            if task in self.working and self.random.random() < 0.5:
                self.send(self.working[task])  # the gradient was on its way
            self.working[task] = Working(joined(self.coordinator, task, str(self.random.random()), self.now))
        worker = self.working[task]
        if len(worker.held) < 2:
            job = self.coordinator.next_job(worker.identity, self.now, [job.number for job, _ in worker.held])
            if isinstance(job, Job) and self.random.random() < 0.95:  # else the answer is lost
                worker.held.append((job, 0))
            elif not worker.held:
                return job if isinstance(job, NoJob) else None
        if worker.held:
            self.advance(worker)
        return None

    def advance(self, worker: Working) -> None:
        job, done = worker.held[0]
        if job.set_name is TRAIN and worker.computes_for is None:
            worker.computes_for = self.coordinator.begin_step(worker.identity, job.number, self.now)
            worker.may_send = not self.coordinator.settings.has_spares
            return
        if self.random.random() < 0.02:
            self.now += 2 * LEASE  # hangs, and submits late
            self.coordinator.tick(self.now - LEASE)
            self.coordinator.tick(self.now)
        number = worker.computes_for
        if number is not None and not worker.may_send:
            self.coordinator.offer_gradient(worker.identity, job.number, number, self.now)
            worker.may_send = True
            return
        self.send(worker)
        worker.computes_for = None
        batches = job.batches[done : done + 1]
        submit(self.coordinator, worker.identity, job, number, batches=batches, last=False, now=self.now)
        worker.held[0] = (job, done + 1)
        if done + 1 == len(job.batches):
            worker.held.pop(0)

    def send(self, worker: Working) -> None:
        """Add the gradient that a worker computes to the accumulator, if it may."""
        if worker.computes_for is not None and worker.may_send:
            job, done = worker.held[0]
            self.accumulator.add(worker.computes_for, (job.epoch, job.batches[done]))

    def lead(self) -> None:
        coordinator = self.coordinator
        assert coordinator.training is not None
        coordinator.take_reports()
        if self.ending is None:
            self.ending = coordinator.close_round(self.now)
        elif self.random.random() < 0.5:  # the others go on while the parameter servers apply the step
            summed = self.accumulator.take(self.ending.number)
            if self.ending.count:
                assert summed.total() == self.ending.count
                self.weights += summed
            coordinator.end_round(self.ending)
            self.ending = None
        if coordinator.training.training_is_over:
            coordinator.allow_testing()
        elif self.ending is None and self.random.random() < 0.05:
            self.saved = json.loads(json.dumps(coordinator.training.state.to_json())), self.weights.copy()
        elif self.random.random() < 0.01 and self.saved is not None:
            self.weights = self.saved[1].copy()
            self.start(TrainingState.from_json(self.saved[0]))  # type: ignore[arg-type]


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    workers=st.integers(1, 4),
    batches=st.integers(1, 11),
    per_job=st.integers(1, 3),
    aggregate=st.integers(1, 6),
    replicas=st.integers(1, 8),
)
def test_every_batch_is_in_the_weights_exactly_once_through_kills_hangs_late_results_and_restarts(
    seed: int, workers: int, batches: int, per_job: int, aggregate: int, replicas: int
) -> None:
    weights = Simulation(seed, workers, batches, per_job, aggregate, replicas).run()
    assert weights == Counter({(epoch, batch): 1 for epoch in range(2) for batch in range(batches)})


def test_three_epochs_more_are_not_three_more_again_after_a_server_was_lost_in_the_test() -> None:
    before = TrainingState(epoch=4, requested_epoch=-4, target_epoch=4)
    state, coordinator = before, training(2, -3, test=2, state=before)
    while not coordinator.training_is_over:
        job = coordinator.next_job()
        assert isinstance(job, Job)
        coordinator.submit(JobResult(job, job.batches, Tally(1, 1.0)))
        state = TrainingState.from_json(json.loads(json.dumps(coordinator.state.to_json())))
    assert state.epoch == 7
    assert training(2, -3, test=2, state=state).training_is_over
