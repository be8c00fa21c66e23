"""Rounds by themselves: what a round takes while it is open, and that a closed or spoiled one takes nothing more."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from coordinators import LEASE, TRAIN, applicant

from deepspeech.cluster.coordination.membership import ClusterSettings, Member, Role
from deepspeech.cluster.coordination.rounds import Round, RoundEnd
from deepspeech.schedule.jobs import Job, JobResult, Tally

TWO = ClusterSettings(2, 0, 2, 2, LEASE)
WITH_SPARES = ClusterSettings(3, 0, 3, 2, LEASE)
ONE, OTHER, THIRD = (Job(number, 0, TRAIN, (number,), report=False) for number in range(3))


def member(task: int, job: Job | None = None, asked: float = 0.0, role: Role = Role.WORKER) -> Member:
    jobs = {} if job is None else {job.number: job}
    return Member(f"member {task}", applicant(task, role=role), seen=asked, asked=asked, jobs=jobs)


def contributed(*jobs: Job) -> Round:
    """Return a round to which member 0, member 1 … have contributed the gradients of jobs."""
    opened = Round(1000)
    for task, job in enumerate(jobs):
        assert opened.begin(f"member {task}", job, TWO)
        assert opened.accepts(f"member {task}", job, 1000)
        opened.add(f"member {task}", JobResult(job, job.batches, Tally(1, 1.0)))
    return opened


def closed() -> Round:
    finished = contributed(ONE)
    assert finished.close_if_due([member(0)], TWO, jobs_pending=False, now=0.0) == RoundEnd(1000, 1)
    return finished


def spoiled() -> Round:
    lost = contributed(ONE)
    assert lost.begin("member 1", OTHER, TWO)
    lost.drop("member 1", OTHER)
    return lost


@pytest.mark.parametrize("ended", [closed, spoiled])
def test_a_round_that_has_ended_takes_no_gradient(ended: Callable[[], Round]) -> None:
    assert not ended().begin("member 2", THIRD, TWO)
    late = ended()
    late.computing["member 2"] = late.sending["member 3"] = THIRD.number
    assert not late.let_send("member 2", THIRD, 1000, WITH_SPARES)
    assert not late.accepts("member 3", THIRD, 1000)


def test_a_round_is_closed_once() -> None:
    assert closed().close_if_due([member(0)], TWO, jobs_pending=False, now=0.0) is None


def test_a_spoiled_round_ends_without_its_gradients_at_once() -> None:
    expected = [member(0, OTHER)]
    assert spoiled().close_if_due(expected, TWO, jobs_pending=True, now=0.0) == RoundEnd(1000, 0)
    assert Round(1000).close_if_due([member(0)], TWO, jobs_pending=False, now=0.0) is None


def test_a_gradient_must_be_of_this_round_and_of_the_job_that_the_member_began() -> None:
    opened = Round(1000)
    assert opened.begin("member 0", ONE, TWO)
    assert not opened.accepts("member 0", ONE, 998)
    assert not opened.accepts("member 0", ONE, None)
    assert not opened.accepts("member 0", OTHER, 1000)
    assert not opened.accepts("member 1", ONE, 1000)


def test_with_spares_as_many_may_send_as_make_a_step_each_the_gradient_that_it_computed() -> None:
    opened = Round(1000)
    for task, job in enumerate((ONE, OTHER, THIRD)):
        assert opened.begin(f"member {task}", job, WITH_SPARES)
    assert not opened.let_send("member 0", OTHER, 1000, WITH_SPARES)
    assert not opened.let_send("member 0", ONE, 998, WITH_SPARES)
    assert opened.let_send("member 0", ONE, 1000, WITH_SPARES)
    assert opened.let_send("member 1", OTHER, 1000, WITH_SPARES)
    assert not opened.let_send("member 2", THIRD, 1000, WITH_SPARES)


@pytest.mark.parametrize(
    ("others", "jobs_pending", "waits"),
    [
        ([], True, False),
        ([member(1, OTHER)], False, True),
        ([member(1, asked=90.0)], True, True),
        ([member(1, asked=90.0)], False, False),
        ([member(1, asked=80.0)], True, False),
        ([member(1, asked=90.0, role=Role.PARAMETER_SERVER)], True, False),
    ],
)
def test_a_round_waits_for_who_holds_a_job_or_asked_lately_while_there_are_jobs(
    others: list[Member], jobs_pending: bool, waits: bool
) -> None:
    end = contributed(ONE).close_if_due([member(0), *others], TWO, jobs_pending, now=95.0)
    assert end == (None if waits else RoundEnd(1000, 1))


@pytest.mark.parametrize("settings", [TWO, WITH_SPARES])
def test_a_round_waits_for_gradients_that_are_computed(settings: ClusterSettings) -> None:
    opened = contributed(ONE)
    assert opened.begin("member 1", OTHER, settings)
    assert opened.close_if_due([], settings, jobs_pending=False, now=0.0) is None
