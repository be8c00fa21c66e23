"""Work that is refused, and gradients beyond those that a step uses, for which nothing waits."""

import pytest
from coordinators import LEASE, TRAIN, cluster, job_of, joined, opened, submit, training

from deepspeech.cluster.coordination.counts import Counts
from deepspeech.cluster.coordination.errors import JobLostError
from deepspeech.cluster.coordination.rounds import RoundEnd
from deepspeech.options import ScheduleOptions
from deepspeech.schedule.coordinator import ResultRefusedError, TrainingCoordinator
from deepspeech.schedule.jobs import Tally
from deepspeech.schedule.state import Plan


def test_a_spare_gradient_is_refused_as_soon_as_the_step_has_enough() -> None:
    coordinator = cluster(2, aggregate=1)
    coordinator.open(training(batches=2))
    members = [joined(coordinator, task) for task in (0, 1)]
    prompt, late = (job_of(coordinator, member) for member in members)
    for member, job in zip(members, (prompt, late), strict=True):
        assert coordinator.begin_step(member, job.number, 0.0) == 1000
    coordinator.offer_gradient(members[0], prompt.number, 1000, 0.0)
    with pytest.raises(JobLostError, match="too late"):
        coordinator.offer_gradient(members[1], late.number, 1000, 0.0)
    submit(coordinator, members[0], prompt, 1000)
    assert coordinator.close_round(0.0) == RoundEnd(1000, 1)


def test_a_step_does_not_wait_for_the_spare_gradient_of_a_worker_that_was_lost() -> None:
    coordinator = cluster(3, aggregate=2)
    coordinator.open(training())
    one, lost, _silent = (joined(coordinator, task) for task in range(3))
    for member in (one, lost):
        job = job_of(coordinator, member)
        assert coordinator.begin_step(member, job.number, 0.0) == 1000
        if member == one:
            coordinator.offer_gradient(member, job.number, 1000, 0.0)
            submit(coordinator, member, job, 1000)
    assert coordinator.close_round(LEASE + 1) is None
    coordinator.leave(lost, LEASE + 1)
    assert coordinator.close_round(LEASE + 1) == RoundEnd(1000, 1)


def test_refused_results_are_counted_and_leave_the_job_to_its_holder() -> None:
    coordinator, (one, two) = opened()
    job = job_of(coordinator, two)
    with pytest.raises(JobLostError, match="not this member's"):
        submit(coordinator, one, job, 1000)
    with pytest.raises(JobLostError, match="not this member's"):
        coordinator.begin_step(one, job.number + 1, 0.0)
    with pytest.raises(ResultRefusedError):
        submit(coordinator, two, job, 1000, batches=[3])
    assert coordinator.begin_step(two, job.number, 0.0) == 1000
    submit(coordinator, two, job, 1000)
    assert coordinator.counts == Counts(jobs=1, results=1, refusals=3)


def test_a_result_has_at_most_the_utterances_that_its_batches_hold() -> None:
    coordinator = cluster(1)
    coordinator.open(TrainingCoordinator(ScheduleOptions(epoch=1), {TRAIN: Plan(4, 2, "train")}))
    one = joined(coordinator, 0)
    job = job_of(coordinator, one)
    assert coordinator.begin_step(one, job.number, 0.0) == 1000
    with pytest.raises(ResultRefusedError):
        coordinator.submit(one, job.number, job.batches, Tally(3, 1.0), last=True, round_number=1000, now=0.0)
    coordinator.submit(one, job.number, job.batches, Tally(2, 1.0), last=True, round_number=1000, now=0.0)
