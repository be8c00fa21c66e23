"""Coordinators of small trainings, and the requests of their workers."""

from collections.abc import Iterable
from typing import Any

from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.membership import Applicant, ClusterSettings, Role
from deepspeech.options import EarlyStoppingOptions, ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import Job, SetName, Tally
from deepspeech.schedule.state import Plan, TrainingState

TRAIN, DEV, TEST = SetName.TRAIN, SetName.DEV, SetName.TEST
LEASE = 10.0


def training(
    batches: int = 4,
    epochs: int = 1,
    *,
    dev: int = 0,
    test: int = 0,
    per_job: int = 1,
    state: TrainingState | None = None,
) -> TrainingCoordinator:
    sizes = {TRAIN: batches, DEV: dev, TEST: test}
    plans = {name: Plan(size, 1, name.value) for name, size in sizes.items() if size}
    early = EarlyStoppingOptions(enabled=False)
    schedule = ScheduleOptions(
        epoch=epochs, validation_step=1 if dev else 0, steps_per_job=per_job, early_stopping=early
    )
    return TrainingCoordinator(schedule, plans, state=state)


def cluster(
    workers: int = 2,
    *,
    replicas: int = 0,
    aggregate: int = 0,
    servers: int = 0,
    first_round: int = 1000,
    all_reduces: bool = False,
    least: int = 0,
) -> ClusterCoordinator:
    counts = replicas or workers, aggregate or workers
    sizes = ClusterSettings(workers, servers, *counts, LEASE, least, all_reduces)
    return ClusterCoordinator(sizes, {Role.WORKER: {"n_hidden": "48"}}, first_round=first_round)


def applicant(task: int, process: str = "p", role: Role = Role.WORKER, **properties: str) -> Applicant:
    return Applicant(role, task, process, {"n_hidden": "48"} | properties)


def joined(coordinator: ClusterCoordinator, task: int, process: str = "p", now: float = 0.0) -> str:
    return coordinator.join(applicant(task, process), now)


def job_of(coordinator: ClusterCoordinator, identity: str, now: float = 0.0) -> Job:
    job = coordinator.next_job(identity, now)
    assert isinstance(job, Job)
    return job


def step(coordinator: ClusterCoordinator, identity: str, job: Job, now: float = 0.0) -> None:
    """Compute and contribute the gradient of a whole job."""
    number = coordinator.begin_step(identity, job.number, now)
    assert number is not None
    submit(coordinator, identity, job, number, now=now)


def submit(
    coordinator: ClusterCoordinator,
    identity: str,
    job: Job,
    round_number: int | None = None,
    *,
    batches: Iterable[int] | None = None,
    last: bool = True,
    now: float = 0.0,
) -> None:
    done = job.batches if batches is None else tuple(batches)
    tally = Tally(len(done), float(len(done)))
    coordinator.submit(identity, job.number, done, tally, last=last, round_number=round_number, now=now)


def opened(workers: int = 2, **sizes: Any) -> tuple[ClusterCoordinator, list[str]]:
    coordinator = cluster(workers)
    coordinator.open(training(**sizes))
    return coordinator, [joined(coordinator, task) for task in range(workers)]
