"""How a run takes up the progress of the one before it: its target, its sets, and what a person should know of both."""

from collections.abc import Mapping

from ..options import ScheduleOptions
from .jobs import SetName
from .state import Plan, TrainingState


def resumed(
    before: TrainingState, schedule: ScheduleOptions, plans: Mapping[SetName, Plan]
) -> tuple[TrainingState, list[str]]:
    """Return the state in which a run with these plans goes on, and remarks of a sentence each for its log."""
    train_set = plans[SetName.TRAIN].fingerprint if SetName.TRAIN in plans else ""
    validates = SetName.DEV in plans and schedule.validation_step > 0
    dev_set = plans[SetName.DEV].fingerprint if validates else ""
    state = before.aimed_at(schedule.epoch).over_sets(train_set, dev_set)
    if validates:
        state = state.with_best_by(schedule.best_by)
    other_corpus = bool(train_set and before.train_set) and train_set != before.train_set
    other_validation = bool(dev_set and before.dev_set) and dev_set != before.dev_set
    remarks = []
    if before.dev_losses and state.best_by != before.best_by:
        remarks.append(
            f"The best checkpoint goes by {state.best_by} now, and went by {before.best_by} before: earlier validations"
            " are not compared"
        )
    elif other_validation and before.dev_losses:
        remarks.append(
            "The validation set is another one than before: its losses are not compared with the earlier ones"
        )
    stopped = state.stopped_early and schedule.early_stopping.enabled
    if train_set and (before.run_ended or not before.epoch) and _nothing_is_left(state, stopped):
        remarks.append(_nothing_left_to_train(state, stopped, other_corpus))
    elif other_corpus:
        remarks.append("The training set is another one than before: training goes on with it")
    return state, remarks


def _nothing_is_left(state: TrainingState, stopped: bool) -> bool:
    between = state.open_epoch is None or state.open_epoch.set_name is SetName.TEST
    return between and (stopped or state.epoch >= state.target_epoch)


def _nothing_left_to_train(state: TrainingState, stopped: bool, other_corpus: bool) -> str:
    if stopped:
        done = f"training stopped early after epoch {state.epoch}"
        more = "a higher --epoch or --noearly_stop trains on"
    elif not state.epoch:
        done = f"--epoch is {state.requested_epoch}, and no epoch is done"
        more = "a higher one trains"
    else:
        done = f"training ended after epoch {state.epoch}, and --epoch is {state.requested_epoch}"
        more = "a higher one, or --epoch=-N for N more, trains on"
    if other_corpus:
        done += ", all of it with another training set than this one"
        more += ", and another --checkpoint_dir begins anew"
    return f"Nothing is left to train: {done}; {more}"
