from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from deepspeech.options import OptimizerOptions
from deepspeech.training.optimization.step import optimizer_step

v1 = tf.compat.v1

WEIGHTS, BIAS = np.array([[1.0, -2.0], [3.0, 0.5]], np.float32), np.array([1.0, 2.0], np.float32)
GRADIENTS = [
    (np.array([[0.1, 0.2], [-0.4, 0.3]], np.float32) * scale, np.array([0.5, -0.1], np.float32) * scale)
    for scale in (1.0, 40.0, -2.0)
]


def steps(options: OptimizerOptions, rates: tuple[float, ...] = ()) -> list[dict[str, Any]]:
    """Return the values of all variables after each step, with the given learning rates or the options'."""
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        weights = v1.get_variable("weights", initializer=WEIGHTS)
        bias = v1.get_variable("bias", initializer=BIAS)
        fed = [v1.placeholder(tf.float32, each.shape) for each in (WEIGHTS, BIAS)]
        global_step = v1.train.get_or_create_global_step()
        step = optimizer_step(options, list(zip(fed, (weights, bias), strict=True)), None, global_step)
        session.run(v1.global_variables_initializer())
        after = []
        for number, gradients in enumerate(GRADIENTS):
            rate = {step.learning_rate: rates[number]} if rates else {}
            session.run(step.apply, {**dict(zip(fed, gradients, strict=True)), **rate})
            after.append(session.run({variable.op.name: variable for variable in v1.global_variables()}))
        return after


def test_a_fed_learning_rate_of_the_options_value_changes_no_bit() -> None:
    options = OptimizerOptions()
    for ours, theirs in zip(steps(options), steps(options, (0.001,) * 3), strict=True):
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name])


def test_a_step_moves_the_weights_by_the_learning_rate_that_is_fed() -> None:
    (one, *_), (ten, *_) = steps(OptimizerOptions(), (0.001,) * 3), steps(OptimizerOptions(), (0.01,) * 3)
    np.testing.assert_allclose(ten["weights"] - WEIGHTS, 10 * (one["weights"] - WEIGHTS), rtol=1e-3)


def test_a_first_step_is_scaled_by_beta2_and_epsilon() -> None:
    (stepped, *_) = steps(OptimizerOptions(learning_rate=0.1, beta2=0.75, epsilon=0.5))
    for name, before, gradient in zip(("weights", "bias"), (WEIGHTS, BIAS), GRADIENTS[0], strict=True):
        expected = before - 0.1 * 0.5 * gradient / (0.5 * np.abs(gradient) + 0.5)  # 0.5 is the square root of 1 - beta2
        np.testing.assert_allclose(stepped[name], expected, rtol=1e-5)


def test_clipping_scales_only_gradients_above_the_limit() -> None:
    limit = 2.0
    clipped = steps(OptimizerOptions(clip_gradient_norm=limit, beta1=0.0))
    moments = [each["weights/Adam"] for each in clipped]
    for moment, (weights, bias) in zip(moments, GRADIENTS, strict=True):
        norm = np.sqrt((weights**2).sum() + (bias**2).sum())
        np.testing.assert_allclose(moment, weights * min(1.0, limit / norm), rtol=1e-5)


def test_weight_decay_shrinks_matrices_by_its_share_of_the_learning_rate_and_leaves_biases_alone() -> None:
    (plain, *_), (decayed, *_) = (
        steps(OptimizerOptions(learning_rate=0.1)),
        steps(OptimizerOptions(learning_rate=0.1, weight_decay=0.5)),
    )
    np.testing.assert_allclose(decayed["weights"], plain["weights"] - 0.1 * 0.5 * WEIGHTS, rtol=1e-5)
    np.testing.assert_array_equal(decayed["bias"], plain["bias"])


def test_the_average_follows_the_weights_of_each_step() -> None:
    decay, average = 0.3, np.zeros_like(WEIGHTS)
    for number, values in enumerate(steps(OptimizerOptions(learning_rate=0.1, ema_decay=decay)), start=1):
        share = 1 - min(decay, (1 + number) / (10 + number))
        average = average - share * (average - values["weights"])
        assert values["weights/ExponentialMovingAverage"] == pytest.approx(average, rel=1e-5)
