"""The coordinator hands out a corpus in shards to workers window by window."""

from collections import defaultdict

from coordinators import TRAIN, cluster, job_of, joined, step

from deepspeech.options import EarlyStoppingOptions, ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.state import Plan


def test_each_worker_reads_windows_of_its_own_until_the_last_and_a_lost_ones_is_taken_over() -> None:
    coordinator = cluster(2)
    plan = Plan(12, 1, "train", starts=lambda _: (0, 4, 8))
    schedule = ScheduleOptions(epoch=2, validation_step=0, early_stopping=EarlyStoppingOptions(enabled=False))
    coordinator.open(TrainingCoordinator(schedule, {TRAIN: plan}))
    workers = [joined(coordinator, task) for task in range(2)]
    seen: dict[tuple[int, str], list[int]] = defaultdict(list)
    for _ in range(6):
        for worker in workers:
            job = job_of(coordinator, worker)
            seen[job.epoch, worker] += job.batches
            step(coordinator, worker, job)
        end = coordinator.close_round(0.0)
        assert end is not None
        coordinator.end_round(end)
    one, two = workers
    assert seen[0, one] == [0, 1, 2, 3, 8, 10]
    assert seen[0, two] == [4, 5, 6, 7, 9, 11]
    coordinator.take_reports()
    mine = job_of(coordinator, one)
    assert (mine.epoch, mine.batches) == (1, (0,))
    coordinator.leave(one, 0.0)
    assert job_of(coordinator, two).batches == (0,)
