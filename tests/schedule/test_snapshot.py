"""What status pages and metrics tell of a training."""

from deepspeech.options import ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import Job, JobResult, SetName, Tally
from deepspeech.schedule.snapshot import Snapshot
from deepspeech.schedule.state import Plan, TrainingState

TRAIN, DEV, TEST = SetName.TRAIN, SetName.DEV, SetName.TEST
PLANS = {TRAIN: Plan(4, 1, "train"), DEV: Plan(2, 1, "dev"), TEST: Plan(2, 1, "test")}
SCHEDULE = ScheduleOptions(epoch=2, validation_step=1, steps_per_job=2)


def test_the_batches_that_are_left_and_the_jobs_that_wait_and_run_are_told_at_each_job() -> None:
    coordinator = TrainingCoordinator(SCHEDULE, PLANS)
    told = []
    while isinstance(job := coordinator.next_job(), Job):
        now = Snapshot.of(coordinator)
        assert now.tally is not None and now.progress is not None
        assert now.tally.utterances == now.progress[2]
        told.append((now.progress, now.batches_left, now.jobs_open, now.jobs_running, now.training_is_over))
        coordinator.submit(JobResult(job, job.batches, Tally(len(job.batches), 1.0)))
    assert told == [
        ((TRAIN, 0, 0, 4), 8, 1, 1, False),
        ((TRAIN, 0, 2, 4), 6, 0, 1, False),
        ((DEV, 0, 0, 2), 4, 1, 1, False),
        ((DEV, 0, 1, 2), 4, 0, 1, False),
        ((TRAIN, 1, 0, 4), 4, 1, 1, False),
        ((TRAIN, 1, 2, 4), 2, 0, 1, False),
        ((DEV, 1, 0, 2), 0, 1, 1, False),
        ((DEV, 1, 1, 2), 0, 0, 1, False),
        ((TEST, 1, 0, 2), 0, 1, 1, True),
        ((TEST, 1, 1, 2), 0, 0, 1, True),
    ]
    over = Snapshot.of(coordinator)
    assert (over.progress, over.tally, over.state.epoch, over.training_is_over) == (None, None, 2, True)


def test_nothing_is_left_where_training_has_stopped_early_or_has_no_set() -> None:
    stopped = TrainingState(epoch=1, requested_epoch=2, target_epoch=2, stopped_early=True)
    without = {DEV: PLANS[DEV], TEST: PLANS[TEST]}
    for plans, state in ((PLANS, stopped), (without, TrainingState())):
        assert Snapshot.of(TrainingCoordinator(SCHEDULE, plans, state=state)).batches_left == 0
