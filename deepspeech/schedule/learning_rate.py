"""The learning rate of each step, which depends on the progress of training alone.

So a run that continues from a checkpoint has the same rates as one that was never interrupted. With steps counted from
0, the base rate a, the minimum m, and W steps of warm-up, step s of S has the rate

    a (s + 1) / W                                      in the warm-up, s < W
    a                                                  constant
    m + (a - m) (1 + cos(pi (s - W) / (S - W))) / 2    cosine (Loshchilov and Hutter, "SGDR", 2017, without restarts)
    a sqrt(W / s)                                      inverse square root (Vaswani et al., 2017)

times the `plateau_reduction` once for each plateau so far, if the run looks for them, and after the warm-up at least m.
"""

import math
from dataclasses import dataclass

from ..options import LearningRateOptions
from ..options.training.learning_rate import CONSTANT, COSINE, INVERSE_SQRT
from .state import TrainingState


def rate_for_workers(rate: float, workers: int, least: int) -> float:
    """Return the rate of a step with gradients of `workers` workers; `rate` is the rate for the `least` number of them.

    It grows with the square root of the step's size (Malladi et al., "On the SDEs and Scaling Rules for Adaptive
    Gradient Algorithms", 2022).
    """
    return rate * math.sqrt(workers / least)


@dataclass(frozen=True)
class LearningRate:
    """The learning rate of a run: its base, its schedule, and the number of batches in a step of the optimizer."""

    base: float
    options: LearningRateOptions
    batches_per_step: int = 1

    def at(self, state: TrainingState, batches_done: int, batch_count: int) -> float:
        """Return the rate of the step after `batches_done` of the `batch_count` batches of the state's epoch."""
        if self.options.is_constant:
            return self.base
        steps_per_epoch = -(-batch_count // self.batches_per_step)
        step = state.epoch * steps_per_epoch + batches_done // self.batches_per_step
        steps = max(state.target_epoch * steps_per_epoch, step + 1)
        warmup = self.options.warmup_steps or math.ceil(self.options.warmup_epochs * steps_per_epoch)
        plateaus = state.plateau_reductions if self.options.on_plateau else 0
        reduced = self.base * self.options.plateau_reduction**plateaus
        if step < warmup:
            return reduced * (step + 1) / warmup
        return max(self._after_warmup(reduced, step, steps, warmup), self.options.minimum)

    def _after_warmup(self, rate: float, step: int, steps: int, warmup: int) -> float:
        if self.options.schedule == COSINE:
            lowest, share = self.options.minimum, (step - warmup) / (steps - warmup)
            return lowest + (rate - lowest) * (1 + math.cos(math.pi * share)) / 2
        if self.options.schedule == INVERSE_SQRT:
            return rate * math.sqrt(warmup / step)
        assert self.options.schedule == CONSTANT
        return rate
