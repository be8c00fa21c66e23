"""How the learning rate changes during training; `deepspeech.schedule.learning_rate` has the formulas."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..rows.checks import OneOf, Range, at_least
from ..rows.flag import flag
from .optimizer import TRAINING

SCHEDULES = CONSTANT, COSINE, INVERSE_SQRT = "constant", "cosine", "inverse_sqrt"


@dataclass(frozen=True)
class LearningRateOptions:
    """The course of the learning rate, starting from `--learning_rate`, and its decrease at a plateau of validation."""

    title: ClassVar[str] = TRAINING
    schedule: str = flag(
        CONSTANT,
        "course of the learning rate: constant, cosine (falls to minimum_learning_rate at the last epoch), or"
        " inverse_sqrt (falls with the square root of the steps after the warm-up)",
        name="learning_rate_schedule",
        check=OneOf(SCHEDULES),
    )
    warmup_steps: int = flag(
        0, "first steps, in which the learning rate rises linearly to its value", check=at_least(0)
    )
    warmup_epochs: float = flag(0.0, "the same in epochs, instead of warmup_steps", check=at_least(0))
    minimum: float = flag(
        0.0, "lowest learning rate, except in the warm-up", name="minimum_learning_rate", check=at_least(0)
    )
    on_plateau: bool = flag(
        False,
        "go back to the best weights and lower the learning rate when validation no longer improves",
        name="reduce_lr_on_plateau",
    )
    plateau_epochs: int = flag(
        10,
        "validations without a better one after which the learning rate is lowered; counted like es_epochs",
        check=at_least(1),
    )
    plateau_reduction: float = flag(
        0.1,
        "factor by which the learning rate is then multiplied",
        check=Range("more than 0 and less than 1", 0, 1, excluded=True),
    )

    @property
    def is_constant(self) -> bool:
        """Whether every step has the same rate."""
        return self.schedule == CONSTANT and not (self.warmup_steps or self.warmup_epochs or self.on_plateau)

    @property
    def notices(self) -> Iterator[str]:
        """A line for each given flag that has no effect."""
        for name in () if self.on_plateau else ("plateau_epochs", "plateau_reduction"):
            if getattr(self, name) != getattr(LearningRateOptions, name):
                yield f"--{name}: not used without --reduce_lr_on_plateau, which lowers the learning rate"
        if self.minimum and self.schedule == CONSTANT and not self.on_plateau:
            yield "--minimum_learning_rate: not used, as nothing lowers the rate; give --learning_rate_schedule=cosine"
