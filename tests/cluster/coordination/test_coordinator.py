"""The answers of a cluster's coordinator, step by step."""

import pytest
from coordinators import DEV, LEASE, TEST, TRAIN, applicant, cluster, job_of, joined, opened, step, submit, training

from deepspeech.cluster.coordination.errors import (
    JobLostError,
    JoinRefusedError,
    NotMemberError,
    ReplacedError,
    TrainingFailedError,
)
from deepspeech.cluster.coordination.membership import Role
from deepspeech.cluster.coordination.rounds import RoundEnd
from deepspeech.schedule.coordinator import NoJob, ResultRefusedError
from deepspeech.schedule.jobs import Tally


def test_a_worker_waits_until_training_is_opened() -> None:
    coordinator = cluster()
    one = joined(coordinator, 0)
    assert coordinator.next_job(one, 0.0) is NoJob.WAIT
    coordinator.open(training(), 0.0)
    job_of(coordinator, one)


def test_a_worker_with_another_model_is_refused_and_the_difference_named() -> None:
    with pytest.raises(JoinRefusedError, match=r"worker 1 .* its n_hidden is 64, the chief's 48"):
        cluster().join(applicant(1, n_hidden="64"), 0.0)


def test_a_worker_beyond_the_chiefs_list_is_refused() -> None:
    with pytest.raises(JoinRefusedError, match="worker 2 is one too many"):
        cluster(2).join(applicant(2), 0.0)


def test_a_job_whose_answer_was_lost_is_told_again_until_the_member_knows_of_it() -> None:
    coordinator, (one, two) = opened()
    lost = job_of(coordinator, one)
    assert coordinator.next_job(one, 1.0, known=[]) == lost
    assert coordinator.next_job(one, 2.0, known=[lost.number]) is NoJob.WAIT
    others = job_of(coordinator, two)
    ahead = coordinator.next_job(one, 3.0, known=[lost.number])
    assert coordinator.next_job(one, 4.0, known=[lost.number]) == ahead
    assert {lost.batches, others.batches} == {(0,), (1,)}


def test_a_step_takes_the_gradients_of_all_workers() -> None:
    coordinator, (one, two) = opened()
    step(coordinator, one, job_of(coordinator, one))
    assert coordinator.close_round(0.0) is None
    step(coordinator, two, job_of(coordinator, two))
    end = coordinator.close_round(0.0)
    assert end == RoundEnd(1000, 2)
    coordinator.end_round(end)
    assert coordinator.training is not None
    assert coordinator.training.progress == (TRAIN, 0, 2, 4)


def test_a_worker_waits_for_the_round_to_end_before_its_next_step() -> None:
    coordinator, (one, _) = opened()
    step(coordinator, one, job_of(coordinator, one))
    following = job_of(coordinator, one)
    assert coordinator.begin_step(one, following.number, 0.0) is None


def test_with_more_gradients_a_step_than_workers_each_contributes_several() -> None:
    coordinator = cluster(1, aggregate=2, replicas=2)
    coordinator.open(training())
    one = joined(coordinator, 0)
    step(coordinator, one, job_of(coordinator, one))
    assert coordinator.close_round(0.0) is None
    step(coordinator, one, job_of(coordinator, one))
    assert coordinator.close_round(0.0) == RoundEnd(1000, 2)


def test_with_fewer_gradients_a_step_than_workers_the_late_one_is_done_again() -> None:
    coordinator = cluster(2, aggregate=1)
    coordinator.open(training(batches=2))
    one, two = joined(coordinator, 0), joined(coordinator, 1)
    late = job_of(coordinator, two)
    number = coordinator.begin_step(two, late.number, 0.0)
    assert number is not None
    prompt = job_of(coordinator, one)
    assert coordinator.begin_step(one, prompt.number, 0.0) == number
    for _ in range(2):  # the first answer may be lost
        coordinator.offer_gradient(one, prompt.number, number, 0.0)
    submit(coordinator, one, prompt, number)
    end = coordinator.close_round(0.0)
    assert end == RoundEnd(1000, 1)
    with pytest.raises(JobLostError, match="too late"):
        coordinator.offer_gradient(two, late.number, number, 0.0)
    coordinator.end_round(end)
    assert job_of(coordinator, one).batches == late.batches


def test_who_computes_a_spare_gradient_may_be_lost_without_harm() -> None:
    coordinator = cluster(2, aggregate=1)
    coordinator.open(training(batches=2))
    one, two = joined(coordinator, 0), joined(coordinator, 1)
    lost, job = job_of(coordinator, two), job_of(coordinator, one)
    number = coordinator.begin_step(two, lost.number, 0.0)
    assert number is not None
    coordinator.begin_step(one, job.number, 0.0)
    coordinator.leave(two, 0.0)
    coordinator.offer_gradient(one, job.number, number, 0.0)
    submit(coordinator, one, job, number)
    assert coordinator.close_round(0.0) == RoundEnd(1000, 1)


def test_no_more_workers_begin_or_end_a_step_than_gradients_make_it() -> None:
    coordinator = cluster(2, replicas=1, aggregate=1)
    coordinator.open(training())
    one, two = joined(coordinator, 0), joined(coordinator, 1)
    first, second = job_of(coordinator, one), job_of(coordinator, two)
    assert coordinator.begin_step(one, first.number, 0.0) == coordinator.begin_step(one, first.number, 0.0) == 1000
    assert coordinator.begin_step(two, second.number, 0.0) is None
    submit(coordinator, one, first, 1000)
    end = coordinator.close_round(0.0)
    assert end is not None
    coordinator.end_round(end)
    assert coordinator.begin_step(two, second.number, 0.0) == 1002
    with pytest.raises(JobLostError, match="too late"):
        submit(coordinator, one, job_of(coordinator, one), 1002)


def test_the_last_step_of_an_epoch_takes_the_gradients_that_there_are() -> None:
    coordinator, (one, _) = opened(batches=1)
    step(coordinator, one, job_of(coordinator, one))
    assert coordinator.close_round(0.0) == RoundEnd(1000, 1)


def test_a_silent_worker_loses_its_job_and_its_late_result_is_refused() -> None:
    coordinator, (one, two) = opened(batches=2)
    lost = job_of(coordinator, two)
    number = coordinator.begin_step(two, lost.number, 0.0)
    for now in (3.0, 6.0, 9.0, 11.0):
        coordinator.tick(now)
        coordinator.heartbeat(one, now)
    with pytest.raises(NotMemberError):
        submit(coordinator, two, lost, number, now=11.0)
    assert job_of(coordinator, one, 11.0).batches == lost.batches


def test_a_round_in_which_a_worker_was_lost_while_it_computed_is_done_again() -> None:
    coordinator, (one, two) = opened(batches=2)
    step(coordinator, one, job_of(coordinator, one))
    lost = job_of(coordinator, two)
    coordinator.begin_step(two, lost.number, 0.0)
    coordinator.leave(two, 1.0)
    end = coordinator.close_round(1.0)
    assert end == RoundEnd(1000, 0)
    coordinator.end_round(end)
    assert sorted(job_of(coordinator, one, 1.0).batches + job_of(coordinator, one, 1.0).batches) == [0, 1]


def test_a_worker_that_was_lost_after_it_contributed_still_counts() -> None:
    coordinator, (one, two) = opened(batches=2)
    step(coordinator, two, job_of(coordinator, two))
    coordinator.leave(two, 1.0)
    step(coordinator, one, job_of(coordinator, one), 1.0)
    end = coordinator.close_round(1.0)
    assert end is not None
    coordinator.end_round(end)
    assert [report.tally.utterances for report in coordinator.take_reports()] == [2]


def test_a_step_goes_without_a_worker_that_has_died() -> None:
    coordinator, (one, two) = opened(batches=4)
    coordinator.leave(two, 1.0)
    step(coordinator, one, job_of(coordinator, one), 1.0)
    assert coordinator.close_round(1.0) == RoundEnd(1000, 1)


def test_a_step_does_not_wait_for_a_worker_that_asks_for_nothing() -> None:
    coordinator, (one, two) = opened(batches=4)
    step(coordinator, one, job_of(coordinator, one))
    coordinator.heartbeat(two, LEASE + 1)
    assert coordinator.close_round(LEASE + 1) == RoundEnd(1000, 1)


def test_workers_are_not_lost_when_it_was_the_coordinator_that_was_held_up() -> None:
    coordinator, (one, _) = opened()
    coordinator.tick(0.0)
    coordinator.tick(500.0)
    coordinator.heartbeat(one, 501.0)


def test_a_worker_that_lives_but_gets_nowhere_loses_its_job() -> None:
    coordinator, (one, _) = opened(batches=2)
    job_of(coordinator, one)
    for now in range(0, 605, 4):
        coordinator.tick(float(now))
        if now < 600:
            coordinator.heartbeat(one, float(now))
    with pytest.raises(NotMemberError):
        coordinator.heartbeat(one, 605.0)


def test_a_restarted_worker_takes_the_place_of_the_one_that_died() -> None:
    coordinator, (one, _) = opened(batches=2)
    lost = job_of(coordinator, one)
    again = joined(coordinator, 0, "restarted")
    assert job_of(coordinator, again).batches == lost.batches
    with pytest.raises(ReplacedError):
        coordinator.heartbeat(one, 0.0)


def test_batches_left_undone_of_a_job_are_handed_out_again() -> None:
    coordinator, (one, two) = opened(batches=4, per_job=4)
    job = job_of(coordinator, one)
    number = coordinator.begin_step(one, job.number, 0.0)
    submit(coordinator, one, job, number, batches=(0,), last=False)
    coordinator.return_jobs(one, [job.number], 0.0)
    end = coordinator.close_round(LEASE + 1)
    assert end is not None
    coordinator.end_round(end)
    assert job_of(coordinator, two).batches == (1, 2, 3)


@pytest.mark.parametrize(
    ("batches", "utterances"), [((1,), 1), ((0, 0), 2), ((), 0), ((0,), 0), ((0,), 9), ((0, 1, 2, 3, 4), 5)]
)
def test_a_result_that_does_not_fit_its_job_changes_nothing(batches: tuple[int, ...], utterances: int) -> None:
    coordinator, (one, _) = opened(batches=4, per_job=4)
    job = job_of(coordinator, one)
    number = coordinator.begin_step(one, job.number, 0.0)
    with pytest.raises(ResultRefusedError):
        coordinator.submit(one, job.number, batches, Tally(utterances, 1.0), last=True, round_number=number, now=0.0)
    submit(coordinator, one, job, number)


def test_testing_waits_until_the_weights_to_test_with_are_loaded() -> None:
    coordinator, (one, two) = opened(batches=1, test=2)
    step(coordinator, one, job_of(coordinator, one))
    end = coordinator.close_round(0.0)
    assert end is not None
    coordinator.end_round(end)
    assert coordinator.next_job(one, 0.0) is NoJob.WAIT
    coordinator.allow_testing()
    for identity in (one, two):
        job = job_of(coordinator, identity)
        assert job.set_name is TEST
        submit(coordinator, identity, job)
    assert coordinator.next_job(two, 0.0) is NoJob.OVER


def test_steps_wait_until_the_reports_of_an_epoch_are_taken() -> None:
    coordinator, (one, two) = opened(batches=1, epochs=2, dev=1)
    step(coordinator, one, job_of(coordinator, one))
    end = coordinator.close_round(0.0)
    assert end is not None
    coordinator.end_round(end)
    submit(coordinator, two, job_of(coordinator, two))
    step(coordinator, one, job_of(coordinator, one))
    assert coordinator.close_round(0.0) is None
    assert [report.set_name for report in coordinator.take_reports()] == [TRAIN, DEV]
    assert coordinator.close_round(0.0) is not None


def test_a_lost_parameter_server_is_trouble_and_training_waits_for_it() -> None:
    coordinator = cluster(1, servers=1)
    coordinator.join(applicant(0, role=Role.PARAMETER_SERVER), 0.0)
    coordinator.open(training())
    worker = joined(coordinator, 0)
    coordinator.join(applicant(0, "restarted", role=Role.PARAMETER_SERVER), 1.0)
    assert coordinator.trouble == "ps 0 was lost"
    coordinator.suspend()
    assert coordinator.members.missing(Role.PARAMETER_SERVER) == []
    with pytest.raises(NotMemberError):
        coordinator.next_job(worker, 1.0)


def test_a_failure_is_told_to_every_member() -> None:
    coordinator, (one, two) = opened()
    coordinator.leave(one, 0.0, "the loss is not finite")
    with pytest.raises(TrainingFailedError, match="worker 0: the loss is not finite"):
        coordinator.heartbeat(two, 0.0)


def test_parameter_servers_go_after_the_workers_and_everyone_is_waited_for_even_who_comes_late() -> None:
    coordinator = cluster(2, servers=1)
    coordinator.open(training(batches=0, epochs=0))
    server = coordinator.join(applicant(0, role=Role.PARAMETER_SERVER), 0.0)
    one = joined(coordinator, 0)
    coordinator.allow_testing()
    assert coordinator.next_job(one, 0.0) is NoJob.OVER
    assert not coordinator.shutdown.servers_may_stop
    coordinator.shutdown.release_servers()
    assert not coordinator.shutdown.servers_may_stop
    coordinator.leave(one, 0.0)
    assert coordinator.shutdown.servers_may_stop
    coordinator.leave(server, 0.0)
    assert not coordinator.shutdown.everyone_has_left
    late = joined(coordinator, 1)
    assert coordinator.next_job(late, 0.0) is NoJob.OVER
    coordinator.leave(late, 0.0)
    assert coordinator.shutdown.everyone_has_left
