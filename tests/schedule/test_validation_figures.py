"""What validation figures decide besides early stopping: plateaus, and which checkpoint is the best."""

import json
from dataclasses import replace
from typing import Any

from deepspeech.options import EarlyStoppingOptions, LearningRateOptions, ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import EpochReport, Job, JobResult, SetName, Tally
from deepspeech.schedule.resumption import resumed
from deepspeech.schedule.state import Figures, OpenEpoch, Plan, TrainingState
from deepspeech.util.figures.metrics import EditCounts

PLANS = {SetName.TRAIN: Plan(2, 1, "train"), SetName.DEV: Plan(1, 1, "dev")}


def validated(
    losses: list[float], wrong_words: list[int] | None = None, before: TrainingState | None = None, **schedule: Any
) -> TrainingState:
    """Return the state after an epoch and a validation for each loss; some of each validation's ten words are wrong.

    Validations that the run `before` has already done are not repeated.
    """
    options = ScheduleOptions(epoch=len(losses), validation_step=1, **schedule)
    coordinator = TrainingCoordinator(options, PLANS, state=before)
    while isinstance(job := coordinator.next_job(), Job):
        tally = Tally(len(job.batches), 1.0)
        if job.set_name is SetName.DEV:
            words = wrong_words[job.epoch] if wrong_words else 0
            tally = Tally(1, losses[job.epoch], labels_emitted=(1, 2), validation_edits=EditCounts(words, 10, 1, 50, 1))
        coordinator.submit(JobResult(job, job.batches, tally))
    return coordinator.state


def test_a_plateau_is_counted_each_time_that_validation_has_not_improved_for_as_long_as_it_lasts() -> None:
    rate = LearningRateOptions(on_plateau=True, plateau_epochs=2)
    state = validated([9.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 4.0, 4.0], learning_rate=rate)
    assert state.plateau_reductions == 2
    at_once = LearningRateOptions(on_plateau=True, plateau_epochs=1)
    assert validated([9.0, 5.0, 5.0, 4.0], learning_rate=at_once).plateau_reductions == 1
    not_asked = replace(at_once, on_plateau=False)
    assert validated([9.0, 5.0, 5.0, 4.0], learning_rate=not_asked).plateau_reductions == 0
    assert TrainingState.from_json(json.loads(json.dumps(state.to_json()))) == state


def test_a_plateau_that_stops_training_lowers_no_rate() -> None:
    rate = LearningRateOptions(on_plateau=True, plateau_epochs=2)
    state = validated([9.0, 9.0, 9.0], learning_rate=rate, early_stopping=EarlyStoppingOptions(patience=2))
    assert (state.stopped_early, state.plateau_reductions) == (True, 0)


def test_validations_that_emit_only_blanks_are_no_plateau() -> None:
    state = TrainingState(plateau_reductions=0)
    rate = LearningRateOptions(on_plateau=True, plateau_epochs=1)
    coordinator = TrainingCoordinator(ScheduleOptions(epoch=5, validation_step=1, learning_rate=rate), PLANS)
    while isinstance(job := coordinator.next_job(), Job):
        coordinator.submit(JobResult(job, job.batches, Tally(len(job.batches), 5.0)))
    assert coordinator.state.plateau_reductions == state.plateau_reductions


def test_the_error_rate_of_validation_decides_what_is_best_if_asked() -> None:
    by_wer = validated([3.0, 2.0, 1.0], [1, 3, 2], best_by="wer")
    assert (by_wer.dev_figures, by_wer.newest_dev_figure) == ((0.1, 0.3, 0.2), 0.2)
    assert by_wer.dev_losses == (3.0, 2.0, 1.0)
    assert validated([3.0], [1], best_by="cer").dev_figures == (0.02,)
    assert validated([3.0, 2.0, 1.0], [1, 3, 2]).dev_figures == (3.0, 2.0, 1.0)
    assert TrainingState.from_json(json.loads(json.dumps(by_wer.to_json()))) == by_wer


def test_figures_of_an_unknown_validation_set_are_compared_with_those_of_any() -> None:
    unknown, one, other = (TrainingState(dev_set=dev_set) for dev_set in ("", "one", "other"))
    assert unknown.compares_with(one) and one.compares_with(unknown)
    assert one.compares_with(replace(one, epoch=3))
    assert not one.compares_with(other)
    assert not one.compares_with(replace(one, best_by="wer"))


def test_early_stopping_looks_at_the_figure_that_is_chosen() -> None:
    losses, wrong = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0], [2, 2, 2, 2, 2, 2]
    stopping = EarlyStoppingOptions(patience=3)
    assert not validated(losses, wrong, early_stopping=stopping).stopped_early
    stopped = validated(losses, wrong, early_stopping=stopping, best_by="wer")
    assert (stopped.stopped_early, stopped.epoch) == (True, 4)


def test_more_epochs_after_an_early_stop_are_not_stopped_by_the_validations_before_it() -> None:
    losses = [5.0, 5.1, 5.2]
    by_thresholds = EarlyStoppingOptions(steps=3, mean_threshold=1.0, deviation_threshold=1.0)
    for stopping in (EarlyStoppingOptions(patience=2), by_thresholds):
        stopped = validated([*losses, 1.0], early_stopping=stopping)
        assert (stopped.stopped_early, stopped.epoch) == (True, 3)
        more = validated([*losses, 6.0, 4.0, 2.0], before=stopped, early_stopping=stopping)
        assert (more.stopped_early, more.epoch) == (False, 6)
        again = validated([*losses, 6.0, 6.1, 6.2, 1.0], before=stopped, early_stopping=stopping)
        assert (again.stopped_early, again.epoch) == (True, 6)
    assert not resumed(stopped, ScheduleOptions(epoch=7, validation_step=1), PLANS)[1]


def test_validations_by_another_figure_are_not_compared_and_that_is_said() -> None:
    before = replace(validated([3.0, 2.0]), run_ended=True)
    state, remarks = resumed(before, ScheduleOptions(epoch=4, validation_step=1, best_by="cer"), PLANS)
    assert (state.best_by, state.dev_figures, state.newest_dev_figure) == ("cer", (), float("inf"))
    assert not state.compares_with(before)
    assert any("is now chosen by cer, and was chosen by loss before" in remark for remark in remarks)


def test_a_validation_that_is_open_begins_again_for_another_figure() -> None:
    plans = {SetName.TRAIN: Plan(1, 1, "train"), SetName.DEV: Plan(2, 1, "dev")}
    options = ScheduleOptions(epoch=1, validation_step=1)
    first = TrainingCoordinator(options, plans)
    for _ in range(2):  # the training epoch, and half of the validation, in which no errors are counted
        job = first.next_job()
        assert isinstance(job, Job)
        first.submit(JobResult(job, job.batches, Tally(1, 1.0)))
    second = TrainingCoordinator(replace(options, best_by="cer"), plans, state=first.state)
    while isinstance(job := second.next_job(), Job):
        errors = EditCounts(1, 10, 3 if job.batches == (0,) else 1, 10, 1)
        second.submit(JobResult(job, job.batches, Tally(1, 1.0, validation_edits=errors)))
    assert second.state.dev_figures == (0.2,)
    assert second.state.dev_losses == (1.0,)


def test_another_figure_for_the_best_keeps_what_is_trained_of_an_open_epoch() -> None:
    opened = OpenEpoch(SetName.TRAIN, PLANS[SetName.TRAIN], frozenset({0}), Tally(1, 2.0))
    state = TrainingState(dev_losses=(3.0,), open_epoch=opened).with_best_by("wer")
    assert state == TrainingState(best_by="wer", open_epoch=opened)


def test_progress_before_a_report_lacks_only_the_last_result_of_a_validation() -> None:
    plans = {name: Plan(2, 1, name.value) for name in (SetName.TRAIN, SetName.DEV)}
    coordinator = TrainingCoordinator(ScheduleOptions(epoch=1, validation_step=1), plans)
    for ends_validation in (False, False, False, True):
        job, before = coordinator.next_job(), coordinator.state
        assert isinstance(job, Job)
        coordinator.submit(JobResult(job, job.batches, Tally(1, 1.0)))
        assert coordinator.state_before_report == (before if ends_validation else coordinator.state) != TrainingState()


def test_losses_of_another_validation_set_are_dropped_with_the_stop_that_they_caused() -> None:
    state = TrainingState(
        dev_losses=(3.0, 4.0), dev_error_rates=(0.3, 0.4), dev_set="a", varied_validations=2, stopped_early=True
    )
    assert state.over_sets("", "b") == TrainingState(dev_set="b")
    assert state.over_sets("", "a") == state


def test_the_history_has_the_word_error_rate_of_decoded_epochs_and_of_validations_that_are_compared_by_it() -> None:
    tally = Tally(1, 2.0, EditCounts(1, 4, 1, 8, 1))
    decoded, other = (Figures.of(EpochReport(0, SetName.DEV, decoded, tally)) for decoded in (True, False))
    assert (decoded.wer, other.wer) == (0.25, None)
    validated = replace(tally, validation_edits=EditCounts(2, 4, 3, 8, 1))
    assert [Figures.of(EpochReport(0, SetName.DEV, decoded, validated)).wer for decoded in (True, False)] == [0.5, 0.5]
    state = TrainingState(history=(decoded, other))
    assert TrainingState.from_json(json.loads(json.dumps(state.to_json()))) == state
