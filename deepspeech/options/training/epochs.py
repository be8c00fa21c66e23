"""The epochs over each set."""

from dataclasses import dataclass, field
from typing import ClassVar

from ..rows.checks import OneOf, at_least
from ..rows.flag import flag
from .early_stopping import EarlyStoppingOptions
from .learning_rate import LearningRateOptions
from .optimizer import TRAINING

LOSS, WER, CER = "loss", "wer", "cer"
"""The values of `--best_by`."""


def in_words(best_by: str) -> str:
    """Return the measure that `--best_by` names, as it is written in a sentence."""
    return best_by if best_by == LOSS else best_by.upper()


@dataclass(frozen=True)
class ScheduleOptions:
    """The epochs that are run over each set.

    `epoch` is the number of training epochs in total; -N means N epochs more than those done.
    `validation_step` and `display_step` are in epochs; 0 means never.
    """

    title: ClassVar[str] = TRAINING
    train: bool = flag(True, "train, if train_files are given")
    test: bool = flag(True, "test, if test_files are given")
    epoch: int = flag(75, "epochs to train in total; -N: N more than those done", aliases=("epochs",))
    validation_step: int = flag(0, "epochs from one validation to the next; 0: never", check=at_least(0))
    best_by: str = flag(
        LOSS,
        "measure for the best checkpoint and for early stopping, the lower the better: loss of the validation set, or"
        " its wer or cer without a language model",
        check=OneOf((LOSS, WER, CER)),
    )
    display_step: int = flag(
        0,
        "epochs from one report of the training set's word error rate to the next; 0: never",
        check=at_least(0),
        decides_result=False,
    )
    steps_per_job: int = flag(
        1,
        "training steps in a job of a worker; each takes one batch per device",
        name="iters_per_worker",
        check=at_least(1),
    )
    early_stopping: EarlyStoppingOptions = field(default_factory=EarlyStoppingOptions)
    learning_rate: LearningRateOptions = field(default_factory=LearningRateOptions)
