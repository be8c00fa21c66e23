"""The load of thousands of members on the coordinator, and requests that a member may repeat."""

import pytest
from coordinators import applicant, cluster, job_of, joined, opened, submit, training

from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.errors import ReplacedError
from deepspeech.cluster.coordination.membership import ClusterSettings, Member, Role
from deepspeech.cluster.http.application import TICK_SECONDS
from deepspeech.options import ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import SetName
from deepspeech.schedule.state import Plan


@pytest.mark.parametrize(
    ("workers", "lease", "seconds"), [(2, 10.0, 1.0), (2, 2.0, 0.5), (10_000, 60.0, 10.0), (10_000, 10.0, 2.5)]
)
def test_members_give_signs_of_life_less_often_where_there_are_thousands_but_four_in_a_lease(
    workers: int, lease: float, seconds: float
) -> None:
    assert ClusterSettings(workers, 0, workers, workers, lease).seconds_between_signs == seconds


@pytest.mark.parametrize("least", [0, 2])
def test_a_job_and_the_look_for_the_end_of_a_round_do_not_look_at_every_member(
    monkeypatch: pytest.MonkeyPatch, least: int
) -> None:
    coordinator = cluster(50, least=least)
    coordinator.open(training(200))
    members = [joined(coordinator, task) for task in range(50)]
    jobs = [job_of(coordinator, member) for member in members]
    assert all(coordinator.begin_step(member, job.number, 0.0) for member, job in zip(members, jobs, strict=True))
    submit(coordinator, members[0], jobs[0], coordinator.round_number)
    looked_at: list[str] = []

    def works(member: Member) -> bool:
        looked_at.append(member.identity)
        return True

    monkeypatch.setattr(Member, "works", property(works))
    job_of(coordinator, members[0])
    assert coordinator.close_round(0.0) is None
    assert len(looked_at) <= 2


@pytest.mark.parametrize("windows", [(0,), (0, 50, 100, 150)])
def test_a_job_in_the_window_that_a_worker_is_in_does_not_look_at_the_jobs_of_every_other(
    monkeypatch: pytest.MonkeyPatch, windows: tuple[int, ...]
) -> None:
    coordinator = cluster(50)
    plan = Plan(200, 1, "train", starts=lambda _: windows)
    coordinator.open(TrainingCoordinator(ScheduleOptions(epoch=1), {SetName.TRAIN: plan}))
    members = [joined(coordinator, task) for task in range(50)]
    for member in members:
        job_of(coordinator, member)
    looked_at: list[str] = []

    def last_job(member: Member) -> object:
        looked_at.append(member.identity)
        return vars(member)["last_job"]

    monkeypatch.setattr(Member, "last_job", property(last_job, lambda member, job: vars(member).update(last_job=job)))
    job_of(coordinator, members[0])
    assert set(looked_at) == {members[0]}


@pytest.mark.parametrize("lease", [0.3, 10.0])
def test_a_silent_member_is_lost_however_short_its_lease_is(lease: float) -> None:
    coordinator = ClusterCoordinator(ClusterSettings(1, 0, 1, 1, lease), {})
    coordinator.join(applicant(0), 0.0)
    for look in range(50):
        coordinator.tick(look * TICK_SECONDS)
    assert len(coordinator.members) == 0


@pytest.mark.parametrize("role", Role)
def test_a_process_that_asks_to_join_once_more_has_not_been_lost(role: Role) -> None:
    coordinator = cluster(1, servers=1)
    coordinator.open(training())
    for second in range(3):
        identity = coordinator.join(applicant(0, role=role), second)
    coordinator.heartbeat(identity, 3.0)
    assert len(coordinator.members) == 1
    assert (coordinator.chronicle.told(3.0), coordinator.trouble, coordinator.members.lost_servers) == ([], None, {})
    coordinator.join(applicant(0, "restarted", role), 4.0)
    assert [event["what"] for event in coordinator.chronicle.told(4.0)] == [f"{role.value} 0 was replaced"]


def test_a_process_that_comes_back_does_not_take_the_place_of_its_successor() -> None:
    coordinator, (first, other) = opened(2)
    for now in (0.0, 4.0, 8.0, 12.0):  # the first falls silent, the other does not
        coordinator.heartbeat(other, now)
        coordinator.tick(now)
    assert first not in coordinator.members
    successor = joined(coordinator, 0, "successor", now=12.0)
    with pytest.raises(ReplacedError):
        joined(coordinator, 0, now=12.0)
    coordinator.leave(successor, now=12.0)
    joined(coordinator, 0, now=12.0)  # nobody else is there
    assert joined(coordinator, 0, "successor", now=12.0) in coordinator.members
