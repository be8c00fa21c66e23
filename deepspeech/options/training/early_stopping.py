"""Early stopping."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..rows.checks import at_least, between
from ..rows.flag import flag, whether_given
from .optimizer import TRAINING


@dataclass(frozen=True)
class EarlyStoppingOptions:
    """When to stop before the last epoch; see `deepspeech.schedule.early_stopping`.

    The rule of `patience` applies, or the rule of `steps` and both thresholds if one of these three is given.
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
        "share of the loss by which it must fall to count as an improvement for early stopping",
        name="es_min_delta",
        check=between(0, 1),
    )
    steps: int = flag(
        4,
        "newest validations that early stopping by thresholds considers; it replaces es_epochs if this flag or a"
        " threshold is given",
        name="earlystop_nsteps",
        check=at_least(2),
        aliases=("es_steps",),
    )
    mean_threshold: float = flag(
        0.5,
        "early stopping by thresholds: limit of the distance of the newest loss from the mean of the earlier ones",
        name="estop_mean_thresh",
        check=at_least(0),
        aliases=("es_mean_th",),
    )
    deviation_threshold: float = flag(
        0.5,
        "early stopping by thresholds: limit of the standard deviation of the earlier losses",
        name="estop_std_thresh",
        check=at_least(0),
        aliases=("es_std_th",),
    )
    thresholds_given: bool = whether_given(
        "earlystop_nsteps", "estop_mean_thresh", "estop_std_thresh", name="estop_thresholds_given"
    )

    @property
    def by_thresholds(self) -> bool:
        """Whether the rule of `steps` and both thresholds applies."""
        defaults = (
            EarlyStoppingOptions.steps,
            EarlyStoppingOptions.mean_threshold,
            EarlyStoppingOptions.deviation_threshold,
        )
        return self.thresholds_given or (self.steps, self.mean_threshold, self.deviation_threshold) != defaults

    def notices(self, *, validates: bool, on_plateau: bool) -> Iterator[str]:
        """Yield a line for given flags that have no effect in a run that validates or does not.

        With `on_plateau`, the learning rate is lowered on a plateau, which `improvement` defines.
        """
        waits = self.patience != EarlyStoppingOptions.patience
        thresholds = "--earlystop_nsteps, --estop_mean_thresh and --estop_std_thresh"
        if not validates and (waits or self.by_thresholds):
            given = thresholds if self.by_thresholds else "--es_epochs"
            yield f"{given}: not used, as nothing is validated; give --dev_files and --validation_step"
        elif self.by_thresholds:
            improves = self.improvement != EarlyStoppingOptions.improvement and not on_plateau
            unused = " and ".join(["--es_epochs"] * waits + ["--es_min_delta"] * improves)
            if unused:
                yield f"{unused}: not used, as at least one of {thresholds} is given, and their rule replaces it"
