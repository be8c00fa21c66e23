"""A cluster whose workers come and go, between a least and a greatest number."""

import pytest
from coordinators import LEASE, applicant, job_of, joined, step, training

from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.membership import ClusterSettings, Role
from deepspeech.cluster.coordination.places import RESERVED_SECONDS
from deepspeech.cluster.coordination.status import status_of, unready
from deepspeech.schedule.coordinator import NoJob
from deepspeech.schedule.learning_rate import rate_for_workers


def between(least: int, greatest: int, *, batches: int = 12) -> ClusterCoordinator:
    settings = ClusterSettings(greatest, 0, greatest, greatest, LEASE, least)
    coordinator = ClusterCoordinator(settings, {Role.WORKER: {"n_hidden": "48"}})
    coordinator.open(training(batches=batches))
    return coordinator


def test_no_job_is_handed_out_while_there_are_too_few() -> None:
    coordinator = between(2, 4)
    first = joined(coordinator, 0)
    assert coordinator.next_job(first, 0.0) is NoJob.WAIT
    assert coordinator.members.missing(Role.WORKER) == [1]
    assert status_of(coordinator, 0.0)["phase"] == unready(coordinator) == "waiting"
    second = joined(coordinator, 3)
    assert coordinator.members.missing(Role.WORKER) == []
    assert (status_of(coordinator, 0.0)["phase"], unready(coordinator)) == ("training", None)
    for member in (first, second):
        step(coordinator, member, job_of(coordinator, member))
    coordinator.leave(second, 0.0)
    assert coordinator.next_job(first, 0.0) is NoJob.WAIT


def test_the_last_workers_hear_that_training_is_over_when_the_others_have_left() -> None:
    coordinator = between(2, 4, batches=2)
    members = [joined(coordinator, task) for task in (0, 1)]
    for member in members:
        step(coordinator, member, job_of(coordinator, member))
    end = coordinator.close_round(0.0)
    assert end is not None
    coordinator.end_round(end)
    coordinator.allow_testing()
    for member in members:
        assert coordinator.next_job(member, 0.0) is NoJob.OVER
        coordinator.leave(member, 0.0)
    assert coordinator.shutdown.everyone_has_left


def test_a_step_has_a_gradient_of_each_worker_that_is_there() -> None:
    coordinator = between(1, 4)
    members = [joined(coordinator, 0)]
    for count in (1, 2, 3):
        jobs = [(member, job_of(coordinator, member)) for member in members]
        for member, job in jobs:
            assert coordinator.close_round(0.0) is None
            step(coordinator, member, job)
        for member in members:
            assert coordinator.begin_step(member, job_of(coordinator, member).number, 0.0) is None
        end = coordinator.close_round(0.0)
        assert end is not None
        assert end.count == count
        coordinator.end_round(end)
        for member in members:
            coordinator.return_jobs(
                member, [job.number for job in coordinator.members.heard(member, 0.0).jobs.values()], 0.0
            )
        members.append(joined(coordinator, count))


def test_a_worker_beyond_the_greatest_number_finds_no_place() -> None:
    coordinator = between(1, 3)
    assert [coordinator.members.take_place(process, 0.0) for process in "abc"] == [1, 2, None]
    coordinator.join(applicant(1, "a"), 1.0)
    coordinator.join(applicant(2, "b"), 1.0)
    assert coordinator.members.take_place("c", 2.0) is None
    coordinator.tick(2.0 + LEASE)
    assert coordinator.members.take_place("c", 2.0 + LEASE) == 1


def test_a_place_is_reserved_for_a_while_and_free_again_if_its_worker_joins_elsewhere() -> None:
    coordinator = between(1, 3)
    members = coordinator.members
    assert [members.take_place(process, 0.0) for process in "ab"] == [1, 2]
    assert members.take_place("a", RESERVED_SECONDS - 1) == 1
    assert members.take_place("c", RESERVED_SECONDS - 1) is None
    assert members.take_place("c", RESERVED_SECONDS) == 2
    assert members.take_place("d", RESERVED_SECONDS) is None
    coordinator.join(applicant(0, "a"), RESERVED_SECONDS)
    assert members.take_place("d", RESERVED_SECONDS) == 1


def test_a_new_worker_gets_the_place_that_was_assigned_the_longest_ago() -> None:
    members = between(1, 3).members
    assert [members.take_place(process, float(now)) for now, process in enumerate("ab")] == [1, 2]
    later = 2 * RESERVED_SECONDS
    assert members.take_place("c", later) == 1
    assert members.take_place("d", later + RESERVED_SECONDS) == 2


def test_the_learning_rate_grows_with_the_square_root_of_the_number_of_workers() -> None:
    assert rate_for_workers(0.001, 2, 2) == 0.001
    assert rate_for_workers(0.001, 8, 2) == pytest.approx(0.002)
