"""Whole trainings under a coordinator, in which workers fail at random."""

import json
import random
from collections import Counter
from dataclasses import dataclass, field

from coordinators import LEASE, TRAIN, cluster, joined, submit, training
from hypothesis import given, settings
from hypothesis import strategies as st

from deepspeech.cluster.coordination.errors import JobLostError, NotMemberError, ReplacedError
from deepspeech.schedule.coordinator import NoJob
from deepspeech.schedule.jobs import Job
from deepspeech.schedule.state import TrainingState


@dataclass
class Simulation:
    """Workers at random over a coordinator, with kills, silence, late results and restarts of the coordinator."""

    seed: int
    workers: int
    batches: int
    per_job: int
    aggregate: int
    now: float = 0.0
    weights: Counter[tuple[int, int]] = field(default_factory=Counter)
    saved: tuple[object, Counter[tuple[int, int]]] | None = None

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.identities: dict[int, str] = {}
        self.held: dict[int, list[tuple[Job, int]]] = {}
        self.begun: dict[int, int] = {}
        self.start(None)

    def start(self, state: TrainingState | None) -> None:
        self.coordinator = cluster(self.workers, aggregate=self.aggregate)
        self.coordinator.open(training(self.batches, 2, dev=3, test=2, per_job=self.per_job, state=state))
        self.pushed: Counter[tuple[int, int]] = Counter()
        self.identities.clear()

    def run(self) -> Counter[tuple[int, int]]:
        for _ in range(20_000):
            self.now += self.random.random()
            self.coordinator.tick(self.now)
            task = self.random.randrange(self.workers)
            try:
                if self.act(task) is NoJob.OVER:
                    return self.weights
            except (NotMemberError, ReplacedError):
                self.identities.pop(task, None)
            except JobLostError:
                self.coordinator.return_jobs(
                    self.identities[task], [job.number for job, _ in self.held[task]], self.now
                )
                self.held[task] = []
            self.lead()
        raise AssertionError("training never ends")

    def act(self, task: int) -> NoJob | None:
        if task not in self.identities or self.random.random() < 0.02:  # started, or killed and restarted
            self.identities[task] = joined(self.coordinator, task, str(self.random.random()), self.now)
            self.held[task] = []
        identity, held = self.identities[task], self.held[task]
        if len(held) < 2:
            job = self.coordinator.next_job(identity, self.now)
            if isinstance(job, Job):
                held.append((job, 0))
            elif not held:
                return job
        if held:
            self.advance(task)
        return None

    def advance(self, task: int) -> None:
        identity, (job, done) = self.identities[task], self.held[task][0]
        number = None
        if job.set_name is TRAIN:
            number = self.coordinator.begin_step(identity, job.number, self.now)
            if number is None:
                return
        if self.random.random() < 0.02:
            self.now += 2 * LEASE  # hangs, and hands in late
            self.coordinator.tick(self.now - LEASE)
            self.coordinator.tick(self.now)
        submit(self.coordinator, identity, job, number, batches=job.batches[done : done + 1], last=False, now=self.now)
        if job.set_name is TRAIN:
            self.pushed[job.epoch, job.batches[done]] += 1
        self.held[task][0] = (job, done + 1)
        if done + 1 == len(job.batches):
            self.held[task].pop(0)

    def lead(self) -> None:
        coordinator = self.coordinator
        assert coordinator.training is not None
        coordinator.take_reports()
        end = coordinator.close_round(self.now)
        if end is not None:
            if end.count:
                assert self.pushed.total() == end.count
                self.weights += self.pushed
            self.pushed.clear()
            coordinator.end_round(end)
        if coordinator.training.training_is_over:
            coordinator.allow_testing()
        elif self.random.random() < 0.05:
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
)
def test_every_batch_is_in_the_weights_exactly_once_through_kills_hangs_late_results_and_restarts(
    seed: int, workers: int, batches: int, per_job: int, aggregate: int
) -> None:
    weights = Simulation(seed, workers, batches, per_job, aggregate).run()
    assert weights == Counter({(epoch, batch): 1 for epoch in range(2) for batch in range(batches)})
