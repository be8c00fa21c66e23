import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.options import EarlyStoppingOptions, ScheduleOptions
from deepspeech.schedule.coordinator import NoJob, ResultRefusedError, TrainingCoordinator
from deepspeech.schedule.jobs import EpochReport, Job, JobResult, Sample, SetName, Tally
from deepspeech.schedule.state import OpenEpoch, Plan, TrainingState, as_ranges
from deepspeech.util.figures.metrics import EditCounts

TRAIN, DEV, TEST = SetName.TRAIN, SetName.DEV, SetName.TEST
ALL_SETS = {TRAIN: Plan(5, 2, "train"), DEV: Plan(2, 2, "dev"), TEST: Plan(3, 2, "test")}
NO_EARLY_STOP = EarlyStoppingOptions(enabled=False)


def schedule(epoch: int, **changes: object) -> ScheduleOptions:
    return replace(ScheduleOptions(epoch=epoch, early_stopping=NO_EARLY_STOP), **changes)  # type: ignore[arg-type]


def result(job: Job, done: int | None = None, loss: float = 1.0, labels: tuple[int, ...] = ()) -> JobResult:
    batches = job.batches[:done]
    return JobResult(job, batches, Tally(len(batches), loss * len(batches), labels_emitted=labels))


def run(
    coordinator: TrainingCoordinator,
    losses: dict[SetName, list[float]] | None = None,
    labels: Callable[[int], tuple[int, ...]] = lambda _: (),
) -> list[EpochReport]:
    """Do every job; `losses` are those of a set's epochs, in order, and `labels` the labels that an epoch emits."""
    reports = []
    while isinstance(job := coordinator.next_job(), Job):
        loss = losses[job.set_name][0] if losses and losses.get(job.set_name) else 1.0
        report = coordinator.submit(result(job, loss=loss, labels=labels(job.epoch)))
        if report:
            reports.append(report)
            if losses and losses.get(job.set_name):
                losses[job.set_name].pop(0)
    assert job is NoJob.OVER
    return reports


def order(reports: list[EpochReport]) -> list[tuple[SetName, int]]:
    return [(report.set_name, report.epoch) for report in reports]


def test_goes_through_training_validation_and_test_in_order() -> None:
    reports = run(TrainingCoordinator(schedule(4, validation_step=2), ALL_SETS))
    assert order(reports) == [(TRAIN, 0), (TRAIN, 1), (DEV, 1), (TRAIN, 2), (TRAIN, 3), (DEV, 3), (TEST, 3)]


def test_never_validates_with_a_validation_step_of_zero() -> None:
    assert order(run(TrainingCoordinator(schedule(2), ALL_SETS))) == [(TRAIN, 0), (TRAIN, 1), (TEST, 1)]


def test_jobs_cover_the_batches_in_order_with_a_smaller_one_at_the_end() -> None:
    coordinator = TrainingCoordinator(schedule(1, steps_per_job=2), {TRAIN: ALL_SETS[TRAIN]})
    jobs = [coordinator.next_job() for _ in range(3)]
    assert [job.batches for job in jobs if isinstance(job, Job)] == [(0, 1), (2, 3), (4,)]
    assert coordinator.next_job() is NoJob.WAIT


def test_reports_the_training_set_every_display_step_and_the_test_set_always() -> None:
    coordinator = TrainingCoordinator(schedule(4, display_step=3), ALL_SETS)
    assert [report.decoded for report in run(coordinator)] == [False, False, True, False, True]


def test_an_epoch_is_finished_by_its_last_result_in_whatever_order_they_come() -> None:
    coordinator = TrainingCoordinator(schedule(1, steps_per_job=2), {TRAIN: ALL_SETS[TRAIN]})
    jobs = [job for job in (coordinator.next_job() for _ in range(3)) if isinstance(job, Job)]
    assert coordinator.submit(result(jobs[2], loss=3.0)) is None
    assert coordinator.submit(result(jobs[0])) is None
    report = coordinator.submit(result(jobs[1]))
    assert report is not None
    assert report.tally.utterances == 5
    assert report.tally.mean_loss == pytest.approx(7 / 5)


def test_batches_left_undone_are_handed_out_next() -> None:
    coordinator = TrainingCoordinator(schedule(1, steps_per_job=3), {TRAIN: ALL_SETS[TRAIN]})
    job = coordinator.next_job()
    assert isinstance(job, Job)
    coordinator.submit(result(job, done=1))
    following = coordinator.next_job()
    assert isinstance(following, Job)
    assert following.batches == (1, 2)


def test_refuses_a_result_that_was_counted_before() -> None:
    coordinator = TrainingCoordinator(schedule(1), ALL_SETS)
    job = coordinator.next_job()
    assert isinstance(job, Job)
    coordinator.submit(result(job))
    state = coordinator.state
    with pytest.raises(ResultRefusedError):
        coordinator.submit(result(job))
    assert coordinator.state == state


def test_refuses_a_result_of_a_job_that_was_given_back_or_is_another() -> None:
    coordinator = TrainingCoordinator(schedule(1), ALL_SETS)
    job = coordinator.next_job()
    assert isinstance(job, Job)
    coordinator.give_back(job)
    with pytest.raises(ResultRefusedError):
        coordinator.submit(result(job))
    again = coordinator.next_job()
    assert isinstance(again, Job)
    with pytest.raises(ResultRefusedError):
        coordinator.submit(result(replace(again, epoch=7)))


def test_refuses_batches_that_are_not_the_jobs_first() -> None:
    coordinator = TrainingCoordinator(schedule(1, steps_per_job=3), ALL_SETS)
    job = coordinator.next_job()
    assert isinstance(job, Job)
    with pytest.raises(ResultRefusedError):
        coordinator.submit(JobResult(job, (1, 2), Tally()))
    assert coordinator.state.open_epoch is not None
    assert not coordinator.state.open_epoch.done


def test_stops_early_and_tests_when_validation_gets_worse() -> None:
    early = EarlyStoppingOptions(steps=2, mean_threshold=0.0, deviation_threshold=0.0)
    coordinator = TrainingCoordinator(schedule(9, validation_step=1, early_stopping=early), ALL_SETS)
    reports = run(coordinator, {DEV: [5.0, 4.0, 6.0]})
    assert order(reports)[-2:] == [(DEV, 2), (TEST, 2)]
    assert coordinator.state.stopped_early
    assert min(coordinator.state.dev_figures) == pytest.approx(4.0)


def test_never_stops_early_while_validation_emits_only_one_letter() -> None:
    early = EarlyStoppingOptions(patience=2)
    for labels in ((), (7,)):
        coordinator = TrainingCoordinator(schedule(9, validation_step=1, early_stopping=early), ALL_SETS)
        run(coordinator, labels=lambda _, labels=labels: labels)  # type: ignore[misc]
        assert not coordinator.state.stopped_early
        assert (coordinator.state.epoch, coordinator.state.varied_validations) == (9, 0)


def test_stops_early_after_as_many_validations_without_a_better_loss_as_it_has_patience_for() -> None:
    early = EarlyStoppingOptions(patience=2)
    coordinator = TrainingCoordinator(schedule(9, validation_step=1, early_stopping=early), ALL_SETS)
    run(coordinator, {DEV: [9.0, 8.0, 8.0, 8.1, 8.0]}, labels=lambda epoch: (1, 3) if epoch >= 1 else (1,))
    assert coordinator.state.stopped_early
    assert (coordinator.state.epoch, coordinator.state.varied_validations) == (4, 3)


def test_patience_goes_on_where_it_was_after_a_restart() -> None:
    early = EarlyStoppingOptions(patience=3)
    options = schedule(9, validation_step=1, early_stopping=early)
    state = TrainingState().aimed_at(9)
    for _ in range(4):
        coordinator = TrainingCoordinator(options, ALL_SETS, state=TrainingState.from_json(state.to_json()))
        while isinstance(job := coordinator.next_job(), Job):
            report = coordinator.submit(result(job, labels=(0, 5)))
            if report and report.set_name is DEV:
                break
        state = coordinator.state
    assert state.stopped_early
    assert state.epoch == 4


def test_a_run_that_stopped_early_stays_stopped_for_the_same_command_and_goes_on_for_more_epochs() -> None:
    state = TrainingState(epoch=3, requested_epoch=9, target_epoch=9, stopped_early=True)
    early = EarlyStoppingOptions()
    assert TrainingCoordinator(schedule(9, early_stopping=early), ALL_SETS, state=state).training_is_over
    assert not TrainingCoordinator(schedule(12, early_stopping=early), ALL_SETS, state=state).training_is_over
    assert not TrainingCoordinator(schedule(9), ALL_SETS, state=state).training_is_over


def test_a_negative_epoch_means_so_many_more() -> None:
    state = TrainingState(epoch=5, requested_epoch=5, target_epoch=5)
    assert order(run(TrainingCoordinator(schedule(-2, validation_step=1), {TRAIN: ALL_SETS[TRAIN]}, state=state))) == [
        (TRAIN, 5),
        (TRAIN, 6),
    ]


def test_a_negative_epoch_keeps_its_target_when_the_run_was_cut_short() -> None:
    state = TrainingState(epoch=6, requested_epoch=-2, target_epoch=7)
    assert order(run(TrainingCoordinator(schedule(-2), {TRAIN: ALL_SETS[TRAIN]}, state=state))) == [(TRAIN, 6)]


def test_the_losses_of_all_epochs_are_remembered_through_a_restart() -> None:
    first = TrainingCoordinator(schedule(2, validation_step=1), {TRAIN: ALL_SETS[TRAIN], DEV: ALL_SETS[DEV]})
    run(first, {DEV: [5.0, 4.0]})
    saved = json.loads(json.dumps(first.state.to_json()))
    second = TrainingCoordinator(schedule(3), {TRAIN: ALL_SETS[TRAIN]}, state=TrainingState.from_json(saved))
    run(second)
    history = [(each.set_name, each.epoch, each.loss) for each in second.state.history]
    assert [each for each in history if each[0] is DEV] == [(DEV, 0, 5.0), (DEV, 1, 4.0)]
    assert [each[:2] for each in history if each[0] is TRAIN] == [(TRAIN, 0), (TRAIN, 1), (TRAIN, 2)]


def test_a_state_of_a_time_without_labels_of_validations_is_read() -> None:
    opened = OpenEpoch(DEV, ALL_SETS[DEV], frozenset({0}), Tally(2, 8.0))
    state = TrainingState(epoch=2, dev_losses=(3.0, 2.0), open_epoch=opened)
    saved = state.to_json()
    del saved["varied_validations"]
    del saved["open_epoch"]["tally"]["labels_emitted"]
    assert TrainingState.from_json(saved) == state


def test_a_state_of_a_time_without_a_history_is_read() -> None:
    saved = TrainingState(epoch=2).to_json()
    del saved["history"]
    assert TrainingState.from_json(saved) == TrainingState(epoch=2)


def test_a_finished_run_only_tests() -> None:
    state = TrainingState(epoch=3, requested_epoch=3, target_epoch=3)
    assert order(run(TrainingCoordinator(schedule(3), ALL_SETS, state=state))) == [(TEST, 2)]


def test_an_epoch_over_a_changed_set_starts_anew_and_one_over_a_set_that_is_gone_is_left_out() -> None:
    for epochs_done, name in enumerate((TRAIN, DEV)):
        opened = OpenEpoch(name, replace(ALL_SETS[name], fingerprint="before"), frozenset({0}), Tally(1, 8.0))
        state = TrainingState(epoch=epochs_done, requested_epoch=1, target_epoch=1, open_epoch=opened)
        first, *_ = run(TrainingCoordinator(schedule(1), ALL_SETS, state=state))
        assert (first.set_name, first.tally) == (name, Tally(ALL_SETS[name].batch_count, ALL_SETS[name].batch_count))
        others = {other: plan for other, plan in ALL_SETS.items() if other is not name}
        assert order(run(TrainingCoordinator(schedule(1), others, state=state))) == [(TEST, 0)]


@given(
    seed=st.integers(0, 10_000),
    steps_per_job=st.integers(1, 4),
    train=st.integers(1, 12),
    dev=st.integers(1, 5),
)
def test_every_batch_is_counted_once_through_partial_results_lost_jobs_and_restarts(
    seed: int, steps_per_job: int, train: int, dev: int
) -> None:
    generator = random.Random(seed)
    options = schedule(3, validation_step=1, steps_per_job=steps_per_job)
    plans = {TRAIN: Plan(train, 1, "a"), DEV: Plan(dev, 1, "b"), TEST: Plan(2, 1, "c")}
    coordinator = TrainingCoordinator(options, plans)
    counted: Counter[tuple[SetName, int, int]] = Counter()
    out: list[Job] = []
    while True:
        job = coordinator.next_job()
        if job is NoJob.OVER:
            break
        if isinstance(job, Job):
            out.append(job)
        if out and (not isinstance(job, Job) or generator.random() < 0.5):
            finished = out.pop(generator.randrange(len(out)))
            if generator.random() < 0.2:
                coordinator.give_back(finished)
                continue
            done = generator.randint(1, len(finished.batches))
            coordinator.submit(result(finished, done))
            counted.update((finished.set_name, finished.epoch, batch) for batch in finished.batches[:done])
        if generator.random() < 0.1 and not coordinator.training_is_over:
            saved = json.loads(json.dumps(coordinator.state.to_json()))
            coordinator = TrainingCoordinator(options, plans, state=TrainingState.from_json(saved))
            out = []
    expected = {(TRAIN, epoch, batch) for epoch in range(3) for batch in range(train)}
    expected |= {(DEV, epoch, batch) for epoch in range(3) for batch in range(dev)}
    expected |= {(TEST, 2, batch) for batch in range(2)}
    assert counted == dict.fromkeys(expected, 1)


def test_merged_tallies_keep_the_wrong_utterances_of_lowest_loss() -> None:
    def tally(*losses: float) -> Tally:
        samples = tuple(Sample(f"{loss}.wav", "a", "b", loss, EditCounts(1, 1, 1, 1, 1)) for loss in losses)
        return Tally(len(losses), sum(losses), EditCounts(), samples)

    merged = tally(5.0, 1.0).merged(tally(3.0, 0.5), 3)
    assert [sample.loss for sample in merged.samples] == [0.5, 1.0, 3.0]
    assert merged.mean_loss == pytest.approx(9.5 / 4)
    assert Tally.from_json(json.loads(json.dumps(merged.to_json()))) == merged


LABELS = st.lists(st.integers(0, 40))


@given(LABELS, LABELS, LABELS)
def test_merged_tallies_know_whether_their_output_varies(first: list[int], second: list[int], third: list[int]) -> None:
    tallies = [Tally.of_labels(labels) for labels in (first, second, third)]
    merged = tallies[0].merged(tallies[1], 3).merged(tallies[2], 3)
    assert merged == Tally.of_labels([*third, *first, *second])
    assert merged.output_varies == (len({*first, *second, *third}) > 1)
    assert Tally.from_json(json.loads(json.dumps(merged.to_json()))) == merged


@given(st.sets(st.integers(0, 40)))
def test_ranges_hold_exactly_the_numbers(numbers: set[int]) -> None:
    ranges = as_ranges(numbers)
    assert [number for start, end in ranges for number in range(start, end)] == sorted(numbers)
    assert all(end < start for (_, end), (start, _) in pairwise(ranges))
