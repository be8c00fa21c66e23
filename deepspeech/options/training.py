"""The optimizer of training, the epochs over each set, and early stopping."""

from dataclasses import dataclass, field
from typing import ClassVar

from .rows.checks import at_least, between, more_than
from .rows.flag import flag, whether_given

TRAINING = "Training"


@dataclass(frozen=True)
class OptimizerOptions:
    """Adam's parameters (Kingma and Ba, 2015)."""

    title: ClassVar[str] = TRAINING
    learning_rate: float = flag(0.001, "Adam's learning rate", check=more_than(0))
    beta1: float = flag(0.9, "Adam's beta 1", check=between(0, 1))
    beta2: float = flag(0.999, "Adam's beta 2", check=between(0, 1))
    epsilon: float = flag(1e-8, "Adam's epsilon", check=more_than(0))


@dataclass(frozen=True)
class EarlyStoppingOptions:
    """When to stop before the last epoch; see `deepspeech.schedule.early_stopping`.

    The rule of `patience` holds, or that of `steps` and both thresholds if one of those is chosen.
    """

    title: ClassVar[str] = TRAINING
    enabled: bool = flag(True, "stop when validation no longer improves", name="early_stop")
    patience: int = flag(
        15,
        "validations without a better loss after which training stops early; those in which the network emits only"
        " blanks or one letter do not count",
        name="es_epochs",
        check=at_least(1),
    )
    improvement: float = flag(
        0.01,
        "share of the loss by which it must fall to count as better for early stopping",
        name="es_min_delta",
        check=between(0, 1),
    )
    steps: int = flag(
        4,
        "newest validations that early stopping by thresholds looks at, which takes the place of es_epochs if this or a"
        " threshold is given",
        name="earlystop_nsteps",
        check=at_least(2),
    )
    mean_threshold: float = flag(
        0.5,
        "limit on the distance of the newest loss from the mean of the earlier ones, to stop early",
        name="estop_mean_thresh",
        check=at_least(0),
    )
    deviation_threshold: float = flag(
        0.5,
        "limit on the standard deviation of the earlier losses, to stop early",
        name="estop_std_thresh",
        check=at_least(0),
    )
    thresholds_given: bool = whether_given(
        "earlystop_nsteps", "estop_mean_thresh", "estop_std_thresh", name="estop_thresholds_given"
    )

    @property
    def by_thresholds(self) -> bool:
        """Whether the rule of `steps` and both thresholds holds."""
        defaults = (
            EarlyStoppingOptions.steps,
            EarlyStoppingOptions.mean_threshold,
            EarlyStoppingOptions.deviation_threshold,
        )
        return self.thresholds_given or (self.steps, self.mean_threshold, self.deviation_threshold) != defaults


@dataclass(frozen=True)
class ScheduleOptions:
    """The epochs that are run over each set.

    `epoch` is the number of training epochs in all; if negative, -N is for N epochs beyond those done.
    `validation_step` and `display_step` are in epochs; 0 means never.
    """

    title: ClassVar[str] = TRAINING
    train: bool = flag(True, "train, if train_files are given")
    test: bool = flag(True, "test, if test_files are given")
    epoch: int = flag(75, "epochs to train in all; -N: N more than are done", aliases=("epochs",))
    validation_step: int = flag(0, "epochs from one validation to the next; 0: never", check=at_least(0))
    display_step: int = flag(
        0,
        "epochs from one report of the training set's word error rate to the next; 0: never",
        check=at_least(0),
        decides_result=False,
    )
    batches_per_job: int = flag(
        1, "steps in a job of a worker; each takes one batch per device", name="iters_per_worker", check=at_least(1)
    )
    early_stopping: EarlyStoppingOptions = field(default_factory=EarlyStoppingOptions)
