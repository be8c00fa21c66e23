"""The CTC loss (Graves et al., 2006, section 4) of one utterance, from posteriors and without TensorFlow."""

import numpy as np
import numpy.typing as npt

from .posteriors import logarithms


def ctc_loss(posteriors: npt.NDArray[np.float32], labels: npt.NDArray[np.int32]) -> float:
    """Return -ln p(labels) in nats for int32 labels [n] and posteriors float32 [time, labels + 1].

    The blank is the last of the posteriors' labels. The loss is infinite if there are fewer frames than the labels
    need. With the labels l = blank, l_1, blank, …, l_n, blank and the posteriors y, the forward variables are

        a(t, s) = y(t, l(s)) (a(t - 1, s) + a(t - 1, s - 1) + [l(s) is not blank and not l(s - 2)] a(t - 1, s - 2))

    and p(labels) is the sum of the last two after the last frame.
    """
    blank = posteriors.shape[1] - 1
    states = np.full(2 * len(labels) + 1, blank)
    states[1::2] = labels
    # From a label to the next without a blank between them, unless they are the same.
    skips = np.zeros(len(states), bool)
    skips[3::2] = labels[1:] != labels[:-1]
    forward = np.full(len(states), -np.inf)
    forward[:1] = 0  # before the first frame, the path is in the first blank
    with np.errstate(invalid="ignore"):
        for number, of_labels in enumerate(logarithms(posteriors.astype(np.float64))):
            from_before = np.concatenate([[-np.inf], forward[:-1]])
            from_two_before = np.where(
                skips, np.concatenate([[-np.inf, -np.inf], forward[:-2]])[: len(states)], -np.inf
            )
            if number == 0:
                from_two_before[:] = -np.inf
            forward = np.logaddexp(np.logaddexp(forward, from_before), from_two_before) + of_labels[states]
    return -float(np.logaddexp.reduce(forward[-2:]))
