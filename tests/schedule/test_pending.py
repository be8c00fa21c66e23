"""Jobs of a corpus in shards: each worker gets jobs of its own window while there are any."""

from __future__ import annotations

import pytest

from deepspeech.options import ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import Job, JobResult, SetName, Tally
from deepspeech.schedule.pending import PendingJobs
from deepspeech.schedule.state import Plan


def test_jobs_never_reach_from_one_window_into_the_next_and_come_in_order() -> None:
    pending = PendingJobs(range(10), 3, starts=(0, 4, 9))
    assert len(pending) == 5
    assert [pending.take() for _ in range(5)] == [(0, 1, 2), (3,), (4, 5, 6), (7, 8), (9,)]
    with pytest.raises(IndexError):
        pending.take()


def test_workers_stay_in_their_windows_and_then_help_where_most_is_left() -> None:
    pending = PendingJobs(range(12), 1, starts=(0, 2, 8))
    one, two = pending.take(), pending.take(others=[0])
    assert (one, two) == ((0,), (2,))
    assert pending.take(last=0, others=[2]) == (1,)
    assert pending.take(last=1, others=[2]) == (8,)  # no worker is in that window
    assert pending.take(last=2, others=[8]) == (3,)
    assert pending.take(others=[3, 8]) == (4,)  # the third worker helps where four are left, not three
    pending.put_back((8,))
    assert pending.take(last=9, others=[4]) == (8,)


def test_a_job_holds_several_steps_of_training_but_one_of_another_set_so_that_nobody_waits_long_for_its_result() -> (
    None
):
    plans = {name: Plan(8, 1, name.value) for name in (SetName.TRAIN, SetName.TEST)}
    coordinator = TrainingCoordinator(ScheduleOptions(epoch=1, steps_per_job=3), plans, batches_per_step=2)
    jobs = []
    while isinstance(job := coordinator.next_job(), Job):
        jobs.append((job.set_name, len(job.batches)))
        coordinator.submit(JobResult(job, job.batches, Tally(len(job.batches), 1.0)))
    assert jobs == [(SetName.TRAIN, 6), (SetName.TRAIN, 2), *[(SetName.TEST, 2)] * 4]
