"""How a run continues the progress of an earlier one: its target, its sets, and remarks for the log about both."""

from collections.abc import Mapping

from ..options import ScheduleOptions
from .jobs import SetName
from .state import Plan, TrainingState


def resumed(
    before: TrainingState, schedule: ScheduleOptions, plans: Mapping[SetName, Plan]
) -> tuple[TrainingState, list[str]]:
    """Return the state in which a run with these plans continues, and remarks of one sentence each for its log."""
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
            f"The best checkpoint is now chosen by {state.best_by}, and was chosen by {before.best_by} before: earlier"
            " validations are not compared"
        )
    elif other_validation and before.dev_losses:
        remarks.append(
            "The validation set is not the same as before: its losses are not compared with the earlier ones"
        )
    stopped = state.stopped_early and schedule.early_stopping.enabled
    if train_set and _nothing_is_left(state, stopped):
        rest_of_same_run = not before.run_ended and schedule.epoch == before.requested_epoch and before.epoch
        if other_corpus or not rest_of_same_run:
            remarks.append(_nothing_left_to_train(state, stopped, other_corpus))
    elif other_corpus:
        remarks.append("The training set is not the same as before: training goes on with the new one")
    return state, remarks


def _nothing_is_left(state: TrainingState, stopped: bool) -> bool:
    between = state.open_epoch is None or state.open_epoch.set_name is SetName.TEST
    return between and (stopped or state.epoch >= state.target_epoch)


def _nothing_left_to_train(state: TrainingState, stopped: bool, other_corpus: bool) -> str:
    if stopped:
        done = f"training stopped early after epoch {state.epoch}"
        more = "to train on, give a higher --epoch or --noearly_stop"
    elif not state.epoch:
        done = f"--epoch is {state.requested_epoch}, and no epoch is done"
        more = "to train, give a higher one"
    else:
        done = f"training ended after epoch {state.epoch}, and --epoch is {state.requested_epoch}"
        more = "to train on, give a higher one, or --epoch=-N for N more epochs"
    if other_corpus:
        done += ", all of it with a different training set"
        more += (
            "; to start from the beginning, give another --checkpoint_dir, and to start with these weights, also"
            " --load_checkpoint_dir and --fresh_optimizer"
        )
    return f"Nothing is left to train: {done}; {more}"
