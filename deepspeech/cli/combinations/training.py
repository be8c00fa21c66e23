"""Checks of the flags of training in combination."""

from collections.abc import Collection

from ...errors import FlagError
from ...options import LearningRateOptions, OptimizerOptions, Options
from ...options.training.epochs import LOSS
from ...options.training.learning_rate import INVERSE_SQRT


def check_training(options: Options, given: Collection[str]) -> None:
    """Raise FlagError for the first flags of training that cannot be combined; `given` are those that were given."""
    if "batch_frames" in given and "train_batch_size" in given and options.batches.frames:
        raise FlagError("--batch_frames: cannot be combined with --train_batch_size; give one of them")
    if not options.trains:
        return
    rate = options.schedule.learning_rate
    _check_learning_rate(rate, options.optimizer.learning_rate)
    _check_weight_decay(options.optimizer)
    validates = bool(options.dev.files) and options.schedule.validation_step > 0
    if rate.on_plateau and not validates:
        raise FlagError("--reduce_lr_on_plateau: needs --dev_files and --validation_step, which show a plateau")
    if options.schedule.best_by == LOSS:
        return
    if not validates:
        raise FlagError(f"--best_by={options.schedule.best_by}: needs --dev_files and --validation_step to validate")
    if options.schedule.early_stopping.enabled and options.schedule.early_stopping.by_thresholds:
        raise FlagError(
            f"--best_by={options.schedule.best_by}: cannot be combined with --earlystop_nsteps, --estop_mean_thresh or "
            "--estop_std_thresh, which are in nats; give --es_epochs and --es_min_delta"
        )


def _check_weight_decay(optimizer: OptimizerOptions) -> None:
    share = optimizer.weight_decay * optimizer.learning_rate
    if share >= 1:
        raise FlagError(
            f"--weight_decay={optimizer.weight_decay}: times --learning_rate={optimizer.learning_rate} is {share:g},"
            " the share of the weights that a step takes away, which must be below 1"
        )


def _check_learning_rate(rate: LearningRateOptions, base: float) -> None:
    if rate.warmup_steps and rate.warmup_epochs:
        raise FlagError("--warmup_steps: cannot be combined with --warmup_epochs; give one of them")
    if rate.schedule == INVERSE_SQRT and not (rate.warmup_steps or rate.warmup_epochs):
        raise FlagError(
            f"--learning_rate_schedule={INVERSE_SQRT}: needs --warmup_steps or --warmup_epochs, as the rate falls after"
            " the warm-up"
        )
    if rate.minimum > base:
        raise FlagError(
            f"--minimum_learning_rate={rate.minimum}: is above --learning_rate={base}, which is the highest rate"
        )
