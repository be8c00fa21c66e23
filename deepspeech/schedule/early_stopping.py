"""The rule that ends training before the last epoch."""

import statistics
from collections.abc import Sequence

from ..options import EarlyStoppingOptions


def should_stop(losses: Sequence[float], options: EarlyStoppingOptions) -> bool:
    """Tell whether training should stop, given the mean loss of every validation so far, oldest first.

    Only the last n = `options.steps` losses l_1 … l_n, in nats, count; as long as there are fewer, training goes on.
    With the mean m = (l_1 + … + l_(n-1)) / (n - 1) and the population's standard deviation s of the same losses,
    training stops if

        l_n > max(l_1, …, l_(n-1))    or    |l_n - m| < mean_threshold and s < deviation_threshold

    which is the rule of DeepSpeech up to 0.6.
    """
    if not options.enabled or len(losses) < options.steps:
        return False
    *earlier, newest = losses[-options.steps :]
    deviation = statistics.pstdev(earlier)
    flat = abs(newest - statistics.fmean(earlier)) < options.mean_threshold and deviation < options.deviation_threshold
    return newest > max(earlier) or flat
