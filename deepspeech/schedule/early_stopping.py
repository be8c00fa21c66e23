"""The rules that end training before the last epoch."""

import math
import statistics
from collections.abc import Sequence

from ..options import EarlyStoppingOptions


def should_stop(losses: Sequence[float], options: EarlyStoppingOptions, *, varied: int) -> bool:
    """Return whether training should stop, given the mean loss of every validation so far, oldest first, in nats.

    `varied` is the number of validations since the network's output was last only blanks or one letter. A network
    trained with CTC begins with such output, and its loss can stay on that plateau for long before it falls.
    """
    if not options.enabled:
        return False
    if options.by_thresholds:
        return passes_thresholds(losses, options)
    return patience_is_over(_newest(losses, varied), options.patience, options.improvement)


def shows_plateau(losses: Sequence[float], epochs: int, improvement: float, *, varied: int) -> bool:
    """Return whether the number of validations since the last improvement is a multiple of `epochs`.

    This is the rule of DeepSpeech 0.9. `losses`, `improvement` and `varied` are as for early stopping.
    """
    waited = validations_without_improvement(_newest(losses, varied), improvement)
    return waited > 0 and waited % epochs == 0


def patience_is_over(losses: Sequence[float], patience: int, improvement: float) -> bool:
    """Return whether the last `patience` losses are no improvement, and the newest is not the lowest of all."""
    if len(losses) <= patience or losses[-1] < min(losses[:-1]):
        return False
    return validations_without_improvement(losses, improvement) >= patience


def validations_without_improvement(losses: Sequence[float], improvement: float) -> int:
    """Return how many losses came after the last improvement; 0 without losses.

    The reference r is the first loss at the beginning. A loss l ≥ 0 is an improvement, and the new reference, if

        l < (1 - improvement) r

    Small steps add up: r does not change until together they are an improvement.
    """
    reference, waited = next(iter(losses), math.inf), 0
    for loss in losses[1:]:
        if loss < (1 - improvement) * reference:
            reference, waited = loss, 0
        else:
            waited += 1
    return waited


def passes_thresholds(losses: Sequence[float], options: EarlyStoppingOptions) -> bool:
    """Return whether the newest losses are worse or flat by the thresholds, which is DeepSpeech's rule up to 0.6.

    Only the last n = `options.steps` losses l_1 … l_n, in nats, count; with fewer losses, training continues. With the
    mean m = (l_1 + … + l_(n-1)) / (n - 1) and the population standard deviation s of the same losses, training stops if

        l_n > max(l_1, …, l_(n-1))    or    |l_n - m| < mean_threshold and s < deviation_threshold
    """
    if len(losses) < options.steps:
        return False
    *earlier, newest = losses[-options.steps :]
    deviation = statistics.pstdev(earlier)
    flat = abs(newest - statistics.fmean(earlier)) < options.mean_threshold and deviation < options.deviation_threshold
    return newest > max(earlier) or flat


def _newest(losses: Sequence[float], count: int) -> Sequence[float]:
    return losses[len(losses) - count :]
