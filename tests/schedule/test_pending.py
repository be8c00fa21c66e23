"""Jobs of a corpus in shards: each worker gets jobs of its own window while there are any."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.options import ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import MOST_BATCHES, Job, JobResult, SetName, Tally
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


BATCH = st.integers(0, 15)


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.lists(st.tuples(st.none() | BATCH, st.sets(BATCH, max_size=5), st.booleans())),
)
def test_a_worker_gets_the_first_batch_of_its_window_else_of_one_nobody_reads_else_of_that_with_most(
    sizes: list[int], workers: list[tuple[int | None, set[int], bool]]
) -> None:
    starts = [sum(sizes[:window]) for window in range(len(sizes))]
    left = [list(range(start, start + size)) for start, size in zip(starts, sizes, strict=True)]

    def window_of(batch: int) -> int:
        return sum(start <= batch for start in starts) - 1

    pending = PendingJobs(range(sum(sizes)), 1, starts)
    for last, others, gives_back in workers[: sum(sizes)]:
        own = [] if last is None else [window_of(last)]
        unread = [window for window in range(len(sizes)) if window not in map(window_of, others)]
        most = sorted(range(len(sizes)), key=lambda window: -len(left[window]))
        window = next(window for window in (*own, *unread, *most) if left[window])
        assert pending.take(last, others) == (left[window][0],)
        if gives_back:
            pending.put_back((left[window][0],))
        else:
            del left[window][0]
    assert len(pending) == sum(map(len, left))


def test_jobs_of_another_set_or_epoch_do_not_decide_which_window_a_worker_gets() -> None:
    plans = {name: Plan(4, 1, name.value, starts=lambda _: (0, 2)) for name in (SetName.TRAIN, SetName.TEST)}
    coordinator = TrainingCoordinator(ScheduleOptions(epoch=2), plans)
    job: Job | None = None
    for _ in range(12):
        first = coordinator.next_job(last=job)
        assert isinstance(first, Job)
        assert job is None or first.batches == ((job.batches[0] + 1) % 4,)
        coordinator.give_back(first)
        before = replace(first, epoch=first.epoch + 1, batches=(0,))
        job = replace(first, number=first.number + 1)
        assert coordinator.next_job(others=[before]) == job
        coordinator.submit(JobResult(job, job.batches, Tally(1, 1.0)))


def test_a_job_has_no_more_batches_than_a_message_can_list_but_a_whole_step() -> None:
    for per_step, in_job in ((2, MOST_BATCHES), (3, MOST_BATCHES // 3 * 3), (MOST_BATCHES + 5, MOST_BATCHES + 5)):
        plans = {SetName.TRAIN: Plan(3 * MOST_BATCHES, 1, "train")}
        schedule = ScheduleOptions(epoch=1, steps_per_job=10 * MOST_BATCHES)
        job = TrainingCoordinator(schedule, plans, batches_per_step=per_step).next_job()
        assert isinstance(job, Job) and len(job.batches) == in_job


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


def test_only_the_batches_of_a_job_that_are_not_counted_are_handed_out_again() -> None:
    coordinator = TrainingCoordinator(ScheduleOptions(epoch=1, steps_per_job=3), {SetName.TRAIN: Plan(3, 1, "train")})
    for counted in (1, 2):
        job = coordinator.next_job()
        assert isinstance(job, Job) and job.batches == (0, 1, 2)[counted - 1 :]
        coordinator.submit(JobResult(job, job.batches[:1], Tally(1, 1.0), last=False))
        coordinator.give_back(job)
    rest = coordinator.next_job()
    assert isinstance(rest, Job) and rest.batches == (2,)
    coordinator.submit(JobResult(rest, rest.batches, Tally(1, 1.0), last=False))
    assert (coordinator.running, coordinator.training_is_over) == (0, True)
