"""The CTC loss of one utterance, from posteriors and without TensorFlow (Graves et al., 2006, forward variables)."""

import numpy as np
import numpy.typing as npt

SMALLEST = 1e-38
"""Probabilities below this count as this."""


def ctc_loss(posteriors: npt.NDArray[np.float32], labels: npt.NDArray[np.int32]) -> float:
    """Return minus the natural logarithm of the probability of int32 labels [n] under posteriors [time, labels + 1].

    The blank is the last label. Infinite if there are fewer frames than the labels need.
    """
    blank = posteriors.shape[1] - 1
    states = np.full(2 * len(labels) + 1, blank)
    states[1::2] = labels
    # From a label to the next without a blank between them, unless they are the same.
    skips = np.zeros(len(states), bool)
    skips[3::2] = labels[1:] != labels[:-1]
    log_probabilities = np.log(np.maximum(posteriors.astype(np.float64), SMALLEST))[:, states]
    forward = np.full(len(states), -np.inf)
    forward[:1] = 0  # before the first frame: as if in the first blank
    with np.errstate(invalid="ignore"):
        for number, emitted in enumerate(log_probabilities):
            from_before = np.concatenate([[-np.inf], forward[:-1]])
            from_two_before = np.where(
                skips, np.concatenate([[-np.inf, -np.inf], forward[:-2]])[: len(states)], -np.inf
            )
            if number == 0:
                from_two_before[:] = -np.inf
            forward = np.logaddexp(np.logaddexp(forward, from_before), from_two_before) + emitted
    return -float(np.logaddexp.reduce(forward[-2:]))
