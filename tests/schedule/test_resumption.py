"""How a run continues the progress of the one before it."""

from dataclasses import replace

from deepspeech.options import EarlyStoppingOptions, ScheduleOptions
from deepspeech.schedule.coordinator import NoJob, TrainingCoordinator
from deepspeech.schedule.jobs import Job, JobResult, SetName, Tally
from deepspeech.schedule.resumption import resumed
from deepspeech.schedule.state import HISTORY_KEPT, Figures, OpenEpoch, Plan, TrainingState

TRAIN, DEV = SetName.TRAIN, SetName.DEV
PLANS = {TRAIN: Plan(5, 2, "train"), DEV: Plan(2, 2, "dev")}
VALIDATED = TrainingState(
    epoch=3,
    requested_epoch=3,
    target_epoch=3,
    dev_losses=(3.0, 2.0, 2.5),
    varied_validations=3,
    history=tuple(Figures(set_name, epoch, 2.0) for epoch in range(3) for set_name in (TRAIN, DEV)),
    train_set="train",
    dev_set="dev",
)


def schedule(epoch: int = 3, *, validation_step: int = 1, early_stop: bool = True) -> ScheduleOptions:
    early = EarlyStoppingOptions(enabled=early_stop)
    return ScheduleOptions(epoch=epoch, validation_step=validation_step, early_stopping=early)


def test_epochs_to_add_are_added_once_until_the_run_has_ended() -> None:
    state, _ = resumed(VALIDATED, schedule(-1), PLANS)
    assert (state.target_epoch, state.run_ended) == (4, False)
    trained = replace(state, epoch=4)
    assert resumed(trained, schedule(-1), PLANS)[0].target_epoch == 4
    assert resumed(replace(trained, stopped_early=True), schedule(-1), PLANS)[0].target_epoch == 4
    assert resumed(replace(trained, run_ended=True), schedule(-1), PLANS)[0].target_epoch == 5
    stopped, _ = resumed(replace(trained, target_epoch=9, stopped_early=True, run_ended=True), schedule(-1), PLANS)
    assert (stopped.target_epoch, stopped.stopped_early) == (5, False)


def test_a_run_that_begins_with_a_checkpoint_of_another_adds_its_own_epochs_whether_or_not_that_had_ended() -> None:
    best = replace(VALIDATED, requested_epoch=-3, target_epoch=4, run_ended=False, goes_back=True)
    for before in (best, replace(best, run_ended=True), replace(best, epoch=4)):
        begun, remarks = resumed(before.as_beginning(), schedule(-3), PLANS)
        assert (begun.target_epoch, begun.goes_back, remarks) == (before.epoch + 3, False, [])
    assert resumed(replace(VALIDATED, run_ended=False).as_beginning(), schedule(), PLANS)[1][0].startswith("Nothing")


def test_a_checkpoint_of_an_earlier_version_counts_as_one_whose_run_has_ended() -> None:
    told = VALIDATED.to_json()
    for name in ("train_set", "dev_set", "validates", "run_ended", "plateau_reductions", "goes_back"):
        del told[name]
    state = TrainingState.from_json(told)
    assert state == replace(VALIDATED, train_set="", dev_set="")
    assert resumed(state, schedule(-1), PLANS)[0].target_epoch == 4
    assert resumed(state, schedule(4), PLANS)[0].dev_losses == VALIDATED.dev_losses


def test_progress_comes_back_from_json() -> None:
    state = replace(VALIDATED, validates=False, run_ended=False)
    assert TrainingState.from_json(state.to_json()) == state


def test_the_losses_of_another_validation_set_are_forgotten_and_a_remark_says_so() -> None:
    before = replace(VALIDATED, stopped_early=True)
    state, remarks = resumed(before, schedule(9), {**PLANS, DEV: Plan(2, 2, "other")})
    assert (state.dev_losses, state.varied_validations, state.stopped_early) == ((), 0, False)
    assert state.dev_set == "other"
    assert len(remarks) == 1
    assert "validation set is not the same" in remarks[0]
    assert resumed(VALIDATED, schedule(9), {**PLANS, DEV: Plan(1, 4, "dev")}) == (
        replace(VALIDATED, requested_epoch=9, target_epoch=9, run_ended=False),
        [],
    )


def test_a_run_that_does_not_validate_keeps_the_losses_of_the_last_that_did() -> None:
    by_rate = replace(VALIDATED, best_by="cer", dev_error_rates=(0.3, 0.2, 0.25))
    for plans, step in (({TRAIN: PLANS[TRAIN]}, 1), (PLANS, 0)):
        for before in (VALIDATED, by_rate):
            state, remarks = resumed(before, schedule(9, validation_step=step), plans)
            assert state == replace(before, requested_epoch=9, target_epoch=9, validates=False, run_ended=False)
            assert not remarks


def test_the_sets_that_were_last_trained_and_validated_on_are_remembered() -> None:
    begun, _ = resumed(TrainingState(), schedule(), PLANS)
    assert (begun.train_set, begun.dev_set) == ("train", "dev")
    other = {TRAIN: Plan(7, 2, "other"), DEV: Plan(2, 2, "other")}
    changed, _ = resumed(VALIDATED, schedule(), other)
    assert (changed.train_set, changed.dev_set) == ("other", "other")
    only_tested, _ = resumed(VALIDATED, schedule(), {})
    assert (only_tested.train_set, only_tested.dev_set) == ("train", "dev")


def test_an_open_epoch_goes_on_with_the_batches_that_are_left_and_the_figures_of_those_before() -> None:
    opened = OpenEpoch(TRAIN, PLANS[TRAIN], frozenset({0, 1, 2, 4}), Tally(8, 12.0))
    state = TrainingState(requested_epoch=1, target_epoch=1, open_epoch=opened)
    coordinator = TrainingCoordinator(schedule(1), PLANS, state=state)
    job = coordinator.next_job()
    assert isinstance(job, Job) and job.batches == (3,)
    report = coordinator.submit(JobResult(job, job.batches, Tally(2, 4.0)))
    assert report is not None and report.tally == Tally(10, 16.0)


def test_nothing_left_to_train_is_said_with_what_trains_on() -> None:
    _, (done,) = resumed(VALIDATED, schedule(), PLANS)
    assert done == (
        "Nothing is left to train: training ended after epoch 3, and --epoch is 3; to train on, give a higher one, or "
        "--epoch=-N for N more epochs"
    )
    assert resumed(replace(VALIDATED, open_epoch=OpenEpoch(SetName.TEST, Plan(2, 2, "test"))), schedule(), PLANS)[
        1
    ] == [done]
    _, (stopped,) = resumed(
        replace(VALIDATED, target_epoch=9, requested_epoch=9, stopped_early=True), schedule(9), PLANS
    )
    assert stopped == (
        "Nothing is left to train: training stopped early after epoch 3; to train on, give a higher --epoch or "
        "--noearly_stop"
    )
    other = {**PLANS, TRAIN: Plan(7, 2, "other")}
    _, (corpus,) = resumed(VALIDATED, schedule(), other)
    assert "all of it with a different training set" in corpus
    assert resumed(replace(VALIDATED, run_ended=False), schedule(), other)[1] == [corpus]
    assert corpus.endswith(
        "to start from the beginning, give another --checkpoint_dir, and to start with these weights, also "
        "--load_checkpoint_dir and --fresh_optimizer"
    )


def test_it_is_also_said_after_a_run_with_another_target_that_was_interrupted_after_its_last_epoch() -> None:
    interrupted = replace(VALIDATED, run_ended=False)
    _, (lower,) = resumed(interrupted, schedule(2), PLANS)
    assert lower.startswith("Nothing is left to train: training ended after epoch 3, and --epoch is 2; to train on")
    assert not resumed(interrupted, schedule(-1), PLANS)[1]


def test_an_epoch_that_was_begun_after_the_last_one_of_a_lower_target_does_not_go_on() -> None:
    interrupted = replace(
        VALIDATED, target_epoch=5, requested_epoch=5, run_ended=False, open_epoch=OpenEpoch(TRAIN, PLANS[TRAIN])
    )
    coordinator = TrainingCoordinator(schedule(3), PLANS, state=interrupted)
    assert coordinator.training_is_over and coordinator.next_job() is NoJob.OVER
    _, (said,) = resumed(interrupted, schedule(3), PLANS)
    assert said.startswith("Nothing is left to train: training ended after epoch 3, and --epoch is 3; to train on")
    validating = replace(interrupted, open_epoch=OpenEpoch(DEV, PLANS[DEV]))
    assert resumed(validating, schedule(2), PLANS)[0].open_epoch == validating.open_epoch
    for higher in (4, 5, -1):
        assert resumed(interrupted, schedule(higher), PLANS)[0].open_epoch == interrupted.open_epoch


def test_no_epochs_at_all_are_said_to_train_nothing() -> None:
    _, remarks = resumed(TrainingState(), schedule(0), PLANS)
    assert remarks == ["Nothing is left to train: --epoch is 0, and no epoch is done; to train, give a higher one"]
    assert resumed(TrainingState(run_ended=False), schedule(0), PLANS)[1] == remarks


def test_nothing_is_said_where_something_is_left() -> None:
    assert not resumed(TrainingState(), schedule(), PLANS)[1]
    assert not resumed(VALIDATED, schedule(4), PLANS)[1]
    assert not resumed(replace(VALIDATED, run_ended=False), schedule(), PLANS)[1]
    assert not resumed(replace(VALIDATED, open_epoch=OpenEpoch(DEV, PLANS[DEV])), schedule(), PLANS)[1]
    stopped = replace(VALIDATED, target_epoch=9, requested_epoch=9, stopped_early=True)
    assert not resumed(stopped, schedule(9, early_stop=False), PLANS)[1]
    assert not resumed(VALIDATED, schedule(), {DEV: PLANS[DEV]})[1]


def test_nothing_is_said_of_validations_that_were_not_there_or_of_an_unknown_set() -> None:
    other = {**PLANS, DEV: Plan(2, 2, "other")}
    by_rate = replace(schedule(9), best_by="wer")
    unvalidated = replace(VALIDATED, dev_losses=())
    for before, options, plans in (
        (unvalidated, schedule(9), other),
        (unvalidated, by_rate, PLANS),
        (replace(VALIDATED, dev_set=""), schedule(9), other),
    ):
        assert not resumed(before, options, plans)[1]


def test_only_the_newest_epochs_are_kept_in_the_history() -> None:
    state = VALIDATED
    for epoch in range(HISTORY_KEPT):
        state = state.with_figures(Figures(TRAIN, epoch, 1.0))
    assert [each.epoch for each in state.history] == [*range(HISTORY_KEPT)]


def test_going_on_with_another_training_set_is_said() -> None:
    _, remarks = resumed(VALIDATED, schedule(9), {**PLANS, TRAIN: Plan(7, 2, "other")})
    assert remarks == ["The training set is not the same as before: training goes on with the new one"]


def test_training_without_validation_is_told_from_validation_that_is_not_due() -> None:
    begun = OpenEpoch(TRAIN, PLANS[TRAIN], frozenset({0}))
    unvalidated = replace(VALIDATED, validates=False)
    assert not VALIDATED.trained_without_validation
    assert not unvalidated.trained_without_validation
    assert not replace(VALIDATED, epoch=5).trained_without_validation
    assert not replace(unvalidated, open_epoch=replace(begun, done=frozenset())).trained_without_validation
    more = (*VALIDATED.history, Figures(TRAIN, 3, 2.0))
    assert replace(unvalidated, epoch=4, history=more).trained_without_validation
    assert replace(unvalidated, open_epoch=begun).trained_without_validation
    assert not replace(unvalidated, epoch=4, history=()).trained_without_validation
