from itertools import groupby, product
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from deepspeech.network.ctc import ctc_loss
from deepspeech.network.layers.compute import Compute, Kernels
from deepspeech.network.layers.native_ops import loaded_ops

v1 = tf.compat.v1


def losses_and_gradient(logits: Any, labels: Any, lengths: Any, compute: Compute) -> tuple[Any, Any]:
    with tf.Graph().as_default(), v1.Session() as session:
        fed = v1.placeholder(tf.float32, logits.shape)
        losses = ctc_loss(tf.constant(labels, tf.int32), fed, tf.constant(lengths, tf.int32), compute)
        fetched = session.run([losses, tf.gradients(losses, fed)[0]], {fed: logits})
    return fetched[0], fetched[1]


def in_double_precision(logits: Any, labels: list[int]) -> float:
    """Return the loss of one utterance, logits [time, classes], by the forward recursion of Graves et al. (2006)."""
    logits = logits.astype(np.float64)
    log_probabilities = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    blank = logits.shape[1] - 1
    states = [blank] + [state for label in labels for state in (label, blank)]
    alpha = np.full(len(states), -np.inf)
    alpha[:2] = log_probabilities[0, states[:2]]
    for frame in log_probabilities[1:]:
        before = alpha.copy()
        for state, label in enumerate(states):
            if state >= 1:
                alpha[state] = np.logaddexp(alpha[state], before[state - 1])
            if state >= 2 and label not in (blank, states[state - 2]):
                alpha[state] = np.logaddexp(alpha[state], before[state - 2])
        alpha += frame[states]
    return -float(np.logaddexp.reduce(alpha[-2:]))


def batch(random: Any, time: int, size: int, classes: int, most_labels: int) -> tuple[Any, Any, Any]:
    logits = random.normal(size=(time, size, classes)).astype(np.float32) * 3
    labels = random.integers(0, classes - 1, (size, most_labels))
    for row in labels:
        row[random.integers(1, most_labels + 1) :] = -1
    return logits, labels, random.integers(2 * most_labels + 1, time + 1, size)


def test_a_loss_that_needs_more_memory_than_there_is_is_told_as_such() -> None:
    labels = np.zeros((2, 5_000_000), np.int32)  # of whose states in all frames the probabilities would take 200 TB
    logits, lengths = np.zeros((labels.shape[1], 2, 2), np.float32), np.full(2, labels.shape[1], np.int32)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="more memory than there is"):
        loaded_ops().deepspeech_ctc(logits, labels, lengths, threads=2)


def test_it_is_the_probability_of_all_alignments() -> None:
    random = np.random.default_rng(1)
    logits, labels = random.normal(size=(5, 1, 3)).astype(np.float32), [0, 1, 1]
    probabilities = np.exp(logits[:, 0]) / np.exp(logits[:, 0]).sum(axis=1, keepdims=True)
    total = 0.0
    for alignment in product(range(3), repeat=5):
        if [label for label, _ in groupby(alignment) if label != 2] == labels:
            total += float(np.prod(probabilities[range(5), alignment]))
    losses, _ = losses_and_gradient(logits, [labels], [5], Compute(Kernels.NATIVE))
    np.testing.assert_allclose(losses, [-np.log(total)], rtol=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(30, 90), st.integers(1, 5), st.integers(2, 40), st.integers(1, 14))
def test_loss_and_gradient_are_those_of_tensorflows_op(
    seed: int, time: int, size: int, classes: int, most_labels: int
) -> None:
    arguments = batch(np.random.default_rng(seed), time, size, classes, most_labels)
    ours, theirs = (
        losses_and_gradient(*arguments, Compute(kernels)) for kernels in (Kernels.NATIVE, Kernels.TENSORFLOW)
    )
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(ours[1], theirs[1], atol=5e-4)


def test_it_is_precise_for_long_utterances() -> None:
    logits, labels, _ = batch(np.random.default_rng(2), 3000, 2, 29, 200)
    losses, _ = losses_and_gradient(logits, labels, [3000, 2500], Compute(Kernels.NATIVE))
    for row, frames in enumerate((3000, 2500)):
        expected = in_double_precision(logits[:frames, row], [int(label) for label in labels[row] if label >= 0])
        assert losses[row] == pytest.approx(expected, rel=3e-7)


def test_a_model_that_is_sure_of_something_else_still_gets_a_gradient() -> None:
    logits = np.zeros((1500, 1, 29), np.float32)
    logits[:, :, 28] = 80
    losses, gradient = losses_and_gradient(logits, [[3, 4] * 100], [1500], Compute(Kernels.NATIVE))
    assert losses[0] == pytest.approx(200 * 80, rel=0.1)
    assert gradient[:, 0, [3, 4]].sum() == pytest.approx(-200, rel=1e-3)


def test_nothing_is_asked_of_frames_beyond_an_utterances_length() -> None:
    logits, labels, _ = batch(np.random.default_rng(3), 40, 2, 7, 5)
    _, gradient = losses_and_gradient(logits, labels, [40, 21], Compute(Kernels.NATIVE))
    assert np.abs(gradient[:21]).max(axis=(0, 2)).min() > 0.1
    assert not gradient[21:, 1].any()


def test_a_transcript_that_does_not_fit_has_an_infinite_loss_and_no_gradient() -> None:
    logits = np.zeros((4, 2, 5), np.float32)
    losses, gradient = losses_and_gradient(logits, [[1, 1, 1], [1, 2, 3]], [4, 4], Compute(Kernels.NATIVE))
    assert np.isinf(losses[0])
    assert np.isfinite(losses[1])
    assert not gradient[:, 0].any()


def test_what_is_not_a_number_stays_so() -> None:
    logits = np.full((9, 1, 5), np.nan, np.float32)
    losses, _ = losses_and_gradient(logits, [[1, 2]], [9], Compute(Kernels.NATIVE))
    assert not np.isfinite(losses[0])
