"""The optimizer of training: its step, and what is done to gradients before it and to weights after it."""

from dataclasses import dataclass
from typing import ClassVar

from ..rows.checks import at_least, between, more_than
from ..rows.flag import flag

TRAINING = "Training"


@dataclass(frozen=True)
class OptimizerOptions:
    """Adam's parameters (Kingma and Ba, 2015), and what is done to gradients and to weights."""

    title: ClassVar[str] = TRAINING
    learning_rate: float = flag(0.001, "Adam's learning rate", check=more_than(0))
    beta1: float = flag(0.9, "Adam's beta 1", check=between(0, 1))
    beta2: float = flag(0.999, "Adam's beta 2", check=between(0, 1))
    epsilon: float = flag(1e-8, "Adam's epsilon", check=more_than(0))
    clip_gradient_norm: float = flag(
        0.0, "largest norm of a step's gradient; larger ones are scaled down to it; 0: no limit", check=at_least(0)
    )
    weight_decay: float = flag(
        0.0,
        "share by which a step reduces the weights, but not the biases, at a learning rate of 1 (AdamW)",
        check=at_least(0),
    )
    accumulate_gradients: int = flag(
        1, "batches per device whose gradients make one step of the optimizer", check=at_least(1)
    )
    ema_decay: float = flag(
        0.0,
        "share of the moving average of the weights that each step keeps, such as 0.999; validation, test and export"
        " use the average; 0: no average",
        check=between(0, 1),
    )
