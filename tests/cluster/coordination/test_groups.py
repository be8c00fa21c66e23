"""Workers that hold the weights themselves: which of them may work, and what happens when one is lost."""

import asyncio

import pytest
from coordinators import LEASE, TRAIN, applicant, cluster, job_of, joined, step, training

from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.errors import NotMemberError
from deepspeech.cluster.coordination.rounds import RoundEnd
from deepspeech.cluster.http.handlers import Handlers
from deepspeech.cluster.http.orders import OrderBody
from deepspeech.cluster.http.service import Service
from deepspeech.schedule.coordinator import NoJob


def grouped(workers: int = 2) -> tuple[ClusterCoordinator, list[str]]:
    coordinator = cluster(workers, all_reduces=True)
    coordinator.open(training(8))
    members = [joined(coordinator, task) for task in range(workers)]
    assert coordinator.group.form() is not None
    return coordinator, members


def test_nobody_works_before_the_chief_has_formed_a_group_with_its_own_worker_first() -> None:
    coordinator = cluster(2, all_reduces=True)
    coordinator.open(training())
    other = coordinator.join(applicant(1), 0.0)
    assert coordinator.group.form() is None
    chiefs = coordinator.join(applicant(0), 0.0)
    assert coordinator.next_job(other, 0.0) is NoJob.WAIT
    order = coordinator.group.form()
    assert order is not None
    assert (order.members, order.round_number) == ((chiefs, other), None)
    job_of(coordinator, other)


def test_a_worker_that_joins_or_is_lost_makes_all_wait_for_a_new_group() -> None:
    coordinator, (one, two) = grouped()
    job = job_of(coordinator, one)
    again = joined(coordinator, 1, process="another")
    assert coordinator.begin_step(one, job.number, 0.0) is None
    assert not coordinator.group.is_whole
    order = coordinator.group.form()
    assert order is not None
    assert order.members == (one, again)
    assert coordinator.begin_step(one, job.number, 0.0) is not None
    coordinator.heartbeat(one, LEASE + 1)
    coordinator.tick(LEASE + 1)
    assert two not in coordinator.members
    assert not coordinator.group.is_whole


def test_an_order_is_for_the_members_of_a_whole_group_and_told_once() -> None:
    coordinator, (one, two) = grouped()
    formed = coordinator.group.order
    assert coordinator.group.order_after(0, two) == formed
    assert coordinator.group.order_after(formed.number, two) is None
    made = coordinator.group.step(1000, 0.01)
    assert (made.number, made.round_number, made.learning_rate) == (formed.number + 1, 1000, 0.01)
    assert coordinator.group.order_after(formed.number, two) == made
    assert coordinator.group.order_after(0, "a stranger") is None
    coordinator.group.dissolve(formed.number)
    assert coordinator.group.is_whole  # an older order failed
    coordinator.group.dissolve(made.number)
    assert coordinator.group.order_after(formed.number, one) is None


@pytest.mark.parametrize("is_member", [True, False])
def test_only_a_member_can_say_that_an_order_has_failed(is_member: bool) -> None:
    coordinator, (_, two) = grouped()
    handlers, number = Handlers(Service(coordinator, clock=lambda: 0.0)), coordinator.group.order.number
    body = OrderBody(member=two if is_member else "a stranger", done=number, failed=number)
    if is_member:
        asyncio.run(handlers.next_order(body))
    else:
        with pytest.raises(NotMemberError):
            asyncio.run(handlers.next_order(body))
    assert coordinator.group.is_whole is not is_member


def test_a_worker_that_is_lost_with_the_gradient_it_has_contributed_spoils_the_round() -> None:
    coordinator, (one, two) = grouped()
    step(coordinator, one, job_of(coordinator, one))
    step(coordinator, two, job_of(coordinator, two))
    coordinator.leave(two, 0.0)
    end = coordinator.close_round(0.0)
    assert end == RoundEnd(1000, 0)
    coordinator.end_round(end)
    assert coordinator.training is not None
    assert coordinator.training.progress == (TRAIN, 0, 0, 8)
    coordinator.group.form()
    assert {job_of(coordinator, one).batches for _ in range(2)} == {(0,), (1,)}


def test_a_round_whose_step_was_made_is_counted_although_a_worker_is_lost_meanwhile() -> None:
    coordinator, (one, two) = grouped()
    step(coordinator, one, job_of(coordinator, one))
    step(coordinator, two, job_of(coordinator, two))
    end = coordinator.close_round(0.0)
    assert end == RoundEnd(1000, 2)
    coordinator.leave(two, 0.0)
    assert coordinator.end_round(end) == 2
    assert coordinator.training is not None
    assert coordinator.training.progress == (TRAIN, 0, 2, 8)
