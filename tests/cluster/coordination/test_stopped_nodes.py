"""How the coordinator treats nodes that were told to stop."""

import pytest
from coordinators import TEST, applicant, cluster, job_of, joined, submit, training

from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.errors import TrainingFailedError, TrainingStoppedError
from deepspeech.cluster.coordination.membership import Role
from deepspeech.cluster.coordination.status import status_of
from deepspeech.schedule.coordinator import NoJob


def with_server() -> tuple[ClusterCoordinator, str]:
    coordinator = cluster(1, servers=1)
    return coordinator, coordinator.join(applicant(0, role=Role.PARAMETER_SERVER), 0.0)


def test_a_server_that_was_told_to_stop_stays_until_its_weights_are_saved() -> None:
    coordinator, server = with_server()
    coordinator.open(training())
    assert not coordinator.heartbeat(server, 1.0)
    assert coordinator.members.that_must_go == []
    assert not coordinator.heartbeat(server, 2.0, must_go=True)
    assert coordinator.members.that_must_go == ["ps 0"]
    coordinator.members.let_go()
    assert coordinator.members.that_must_go == []
    assert coordinator.heartbeat(server, 3.0, must_go=True)


def test_a_server_without_weights_may_go_at_once() -> None:
    coordinator, server = with_server()
    assert not coordinator.heartbeat(server, 1.0)
    assert coordinator.heartbeat(server, 2.0, must_go=True)


def test_training_waits_for_another_server_before_the_one_that_was_told_to_stop_has_gone() -> None:
    coordinator, server = with_server()
    coordinator.open(training())
    assert coordinator.members.missing(Role.PARAMETER_SERVER) == []
    coordinator.heartbeat(server, 1.0, must_go=True)
    coordinator.members.let_go()
    coordinator.suspend()
    assert coordinator.members.missing(Role.PARAMETER_SERVER) == [0]
    coordinator.join(applicant(0, role=Role.PARAMETER_SERVER), 2.0)
    assert coordinator.members.missing(Role.PARAMETER_SERVER) == []


def test_every_node_is_told_that_training_was_stopped_and_not_that_it_has_failed() -> None:
    coordinator, server = with_server()
    worker = joined(coordinator, 0)
    coordinator.stop("interrupted; saved in here")
    for identity in (server, worker):
        with pytest.raises(TrainingStoppedError, match="interrupted; saved in here"):
            coordinator.heartbeat(identity, 0.0)
    with pytest.raises(TrainingStoppedError):
        joined(coordinator, 0)
    assert status_of(coordinator, 0.0)["phase"] == "stopped"
    other, server = with_server()
    other.fail("no space left")
    with pytest.raises(TrainingFailedError):
        other.heartbeat(server, 0.0)


def test_a_server_that_is_lost_while_weights_are_loaded_is_waited_for_from_then_on_and_not_for_ever() -> None:
    coordinator, server = with_server()
    coordinator.open(training())
    coordinator.suspend()
    coordinator.heartbeat(server, 20.0)
    for now in (20.0, 24.0, 28.0):
        coordinator.tick(now)
    assert coordinator.members.lost_servers == {}
    coordinator.tick(31.0)
    assert coordinator.members.lost_servers == {0: 20.0}


def test_a_lost_server_is_not_waited_for_while_all_nodes_are_suspended() -> None:
    coordinator, server = with_server()
    coordinator.leave(server, 20.0)
    for now in (20.0, 24.0, 3624.0, 3625.0):
        coordinator.tick(now)
    assert coordinator.members.lost_servers == {0: 3620.0}


def test_a_server_that_is_lost_as_the_last_result_comes_does_not_take_training_back() -> None:
    coordinator, server = with_server()
    coordinator.open(training(batches=0, epochs=0, test=1))
    worker = joined(coordinator, 0)
    coordinator.allow_testing()
    job = job_of(coordinator, worker)
    coordinator.leave(server, 1.0)
    assert coordinator.trouble == "ps 0 was lost"
    submit(coordinator, worker, job)
    assert coordinator.next_job(worker, 1.0) is NoJob.OVER
    assert coordinator.trouble is None
    assert [report.set_name for report in coordinator.take_reports()] == [TEST]


def test_the_chief_stays_until_a_worker_that_died_at_the_end_is_given_up_and_the_servers_have_gone() -> None:
    coordinator, server = with_server()
    coordinator.open(training(batches=0, epochs=0))
    worker = joined(coordinator, 0)
    coordinator.allow_testing()
    coordinator.next_job(worker, 0.0)  # it learns that training is over, and dies
    coordinator.shutdown.release_servers()
    for now in (0.0, 4.0, 8.0, 10.0):
        coordinator.tick(now)
        assert not coordinator.heartbeat(server, now)
        assert not coordinator.shutdown.is_complete(now)
    coordinator.tick(11.0)
    assert coordinator.heartbeat(server, 11.0)
    assert not coordinator.shutdown.is_complete(11.0)
    coordinator.leave(server, 11.5)
    assert coordinator.shutdown.is_complete(11.5)


def test_the_chief_waits_a_while_for_nodes_that_were_missing_and_not_for_ever_for_those_that_stay() -> None:
    coordinator = cluster(2)
    one = joined(coordinator, 0)
    assert not coordinator.shutdown.is_complete(9.0)
    assert not coordinator.shutdown.is_complete(14.0)
    assert coordinator.shutdown.is_complete(15.1)
    coordinator.leave(one, 0.0)
    assert not coordinator.shutdown.is_complete(9.0)
    assert coordinator.shutdown.is_complete(10.1)
