"""The rules that end training before the last epoch."""

import statistics
from collections.abc import Sequence

from ..options import EarlyStoppingOptions


def should_stop(losses: Sequence[float], options: EarlyStoppingOptions, *, varied: int) -> bool:
    """Tell whether training should stop, given the mean loss of every validation so far, oldest first, in nats.

    `varied` counts the newest validations since the network's output was last only blanks or one letter: a network
    that is trained with CTC begins with such output, and its loss can stay on that plateau for long before it falls.
    """
    if not options.enabled:
        return False
    if options.by_thresholds:
        return passes_thresholds(losses, options)
    counted = losses[max(len(losses) - varied, 0) :]
    return patience_is_over(counted, options.patience, options.improvement)


def patience_is_over(losses: Sequence[float], patience: int, improvement: float) -> bool:
    """Tell whether the last `patience` losses are no improvement, and the newest is not the lowest of all.

    With the reference r, at first the first loss, a loss l ≥ 0 is an improvement and the new reference if

        l < (1 - improvement) r

    Small steps add up: r stays where it is until they are an improvement together.
    """
    if len(losses) <= patience or losses[-1] < min(losses[:-1]):
        return False
    reference, waited = losses[0], 0
    for loss in losses[1:]:
        if loss < (1 - improvement) * reference:
            reference, waited = loss, 0
        else:
            waited += 1
    return waited >= patience


def passes_thresholds(losses: Sequence[float], options: EarlyStoppingOptions) -> bool:
    """Tell whether the newest losses are worse or flat by the thresholds, which is the rule of DeepSpeech up to 0.6.

    Only the last n = `options.steps` losses l_1 … l_n, in nats, count; as long as there are fewer, training goes on.
    With the mean m = (l_1 + … + l_(n-1)) / (n - 1) and the population's standard deviation s of the same losses,
    training stops if

        l_n > max(l_1, …, l_(n-1))    or    |l_n - m| < mean_threshold and s < deviation_threshold
    """
    if len(losses) < options.steps:
        return False
    *earlier, newest = losses[-options.steps :]
    deviation = statistics.pstdev(earlier)
    flat = abs(newest - statistics.fmean(earlier)) < options.mean_threshold and deviation < options.deviation_threshold
    return newest > max(earlier) or flat
