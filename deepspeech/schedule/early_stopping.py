"""The rule that ends training before the last epoch."""

import statistics
from collections.abc import Sequence

from ..options import EarlyStoppingOptions


def should_stop(losses: Sequence[float], options: EarlyStoppingOptions) -> bool:
    """Tell whether training should stop, given the mean loss of every validation so far, oldest first.

    Only the last `options.steps` losses count, and fewer never stop. Training stops if the newest loss is worse than
    all the others, or if it is within `options.mean_threshold` of their mean while their standard deviation is below
    `options.deviation_threshold`.
    """
    if not options.enabled or len(losses) < options.steps:
        return False
    *earlier, newest = losses[-options.steps :]
    deviation = statistics.pstdev(earlier)
    flat = abs(newest - statistics.fmean(earlier)) < options.mean_threshold and deviation < options.deviation_threshold
    return newest > max(earlier) or flat
