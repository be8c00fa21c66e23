"""What a coordinator forgets when training goes back to its last checkpoint, and how it counts results."""

from __future__ import annotations

import pytest
from coordinators import applicant, cluster, job_of, joined, step, submit, training

from deepspeech.cluster.coordination.errors import JobLostError, NotMemberError
from deepspeech.cluster.coordination.membership import Role
from deepspeech.schedule.coordinator import NoJob
from deepspeech.schedule.state import TrainingState


def test_workers_join_again_and_nothing_since_the_checkpoint_counts() -> None:
    coordinator = cluster(2, servers=1)
    server = coordinator.join(applicant(0, role=Role.PARAMETER_SERVER), 0.0)
    coordinator.open(training(2, dev=1))
    first, second = (joined(coordinator, task) for task in range(2))
    job = job_of(coordinator, first)
    step(coordinator, first, job)
    number = coordinator.round_number
    coordinator.suspend()
    assert coordinator.round_number > number
    assert coordinator.close_round(0.0) is None
    assert not coordinator.heartbeat(server, 0.0)
    for identity in (first, second):
        with pytest.raises(NotMemberError):
            coordinator.next_job(identity, 0.0)
    again = joined(coordinator, 0, "q")
    assert coordinator.next_job(again, 0.0) is NoJob.WAIT
    coordinator.open(training(2, dev=1))
    assert coordinator.close_round(0.0) is None
    with pytest.raises(JobLostError):
        submit(coordinator, again, job, number)
    assert job_of(coordinator, again).batches == job.batches


def test_reports_of_epochs_after_the_checkpoint_are_dropped() -> None:
    coordinator = cluster(1)
    coordinator.open(training(1))
    worker = joined(coordinator, 0)
    step(coordinator, worker, job_of(coordinator, worker))
    end = coordinator.close_round(0.0)
    assert end is not None
    coordinator.end_round(end)
    assert coordinator.has_reports
    coordinator.suspend()
    assert not coordinator.has_reports


def test_a_test_waits_again_for_the_weights_to_test_with() -> None:
    coordinator = cluster(1)
    tested = TrainingState(epoch=1, requested_epoch=1, target_epoch=1)
    for _ in range(2):
        coordinator.open(training(1, test=1, state=tested))
        worker = joined(coordinator, 0)
        assert coordinator.next_job(worker, 0.0) is NoJob.WAIT
        coordinator.allow_testing()
        job_of(coordinator, worker)
        coordinator.suspend()


def test_gradients_of_other_weights_are_discarded_and_their_batches_done_again() -> None:
    coordinator = cluster(2)
    coordinator.open(training(2))
    first, _ = (joined(coordinator, task) for task in range(2))
    job = job_of(coordinator, first)
    step(coordinator, first, job)
    coordinator.spoil_round()
    end = coordinator.close_round(0.0)
    assert end is not None and end.count == 0
    coordinator.end_round(end)
    assert job_of(coordinator, first).batches == job.batches


def test_throughput_and_silence_are_counted_from_results() -> None:
    coordinator = cluster(1)
    coordinator.open(training(3))
    worker = joined(coordinator, 0)
    member = coordinator.members.find(worker)
    assert member is not None
    assert (member.throughput(9.0), coordinator.members.stalled_for(9.0)) == (0.0, 0.0)
    for now in (1.0, 2.0, 4.0):
        step(coordinator, worker, job_of(coordinator, worker, now), now)
        end = coordinator.close_round(now)
        assert end is not None
        coordinator.end_round(end)
    assert member.throughput(5.0) == pytest.approx(2 / 4)
    assert coordinator.members.stalled_for(5.0) == 1.0
