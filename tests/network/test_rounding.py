"""Training for int8: factors are rounded as in the engine, and have the gradients of unrounded factors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pytest
import tensorflow as tf

from deepspeech._acoustic import Int8Dense
from deepspeech.errors import NetworkError
from deepspeech.network import Dense, network
from deepspeech.network.checks.rounding import ROUNDED
from deepspeech.network.description import (
    LSTM,
    Convolution,
    ConvolutionModule,
    FeedForward,
    Layer,
    Network,
    Projection,
    SelfAttention,
    TwoLSTMs,
)
from deepspeech.network.layers.compute import Compute, compute_on
from deepspeech.network.layers.dense import dense
from deepspeech.network.rounding import rounded_columns, rounded_kernel
from deepspeech.network.training import Activations, Outputs, Pass, computed, outputs_of
from deepspeech.options import ModelOptions, SessionOptions, with_values
from deepspeech.serving.engine import LAYERS
from deepspeech.serving.layers.blocks import columns_in_blocks, float32_weights, int8_weights
from deepspeech.serving.layers.layer import Batch
from deepspeech.serving.layers.plan import in_plans
from deepspeech.serving.layers.precision import Precision

v1 = tf.compat.v1
ROWS, INPUTS, UNITS = 30, 70, 90


def trained_layer(after: int, steps: int) -> tuple[list[Any], list[Any]]:
    """Return inputs, weights and bias, and outputs with gradients of inputs and weights, after `steps`."""
    random = np.random.default_rng(5)
    values = random.normal(size=(ROWS, INPUTS)).astype(np.float32) * random.uniform(0.1, 9, size=(ROWS, 1))
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(3)
        inputs = tf.constant(values, tf.float32)
        outputs = dense(Dense("layer", UNITS, clip=20.0), inputs, 0.0, Compute(quantize_after=after))
        weights, bias = v1.trainable_variables()
        gradients = tf.gradients(tf.reduce_sum(outputs), [inputs, weights])
        session.run(v1.global_variables_initializer())
        session.run(v1.assign(v1.train.get_global_step(), steps))
        return session.run([inputs, weights, bias]), session.run([outputs, *gradients])


def test_a_layers_outputs_are_those_of_the_engine_in_int8() -> None:
    (inputs, weights, bias), (outputs, *_) = trained_layer(after=10, steps=10)
    product = Int8Dense(
        *int8_weights(columns_in_blocks(weights)), INPUTS, float32_weights(columns_in_blocks(bias[None])).reshape(-1)
    )
    np.testing.assert_allclose(outputs, product.run(inputs, 0.0, 20.0, 1)[:, :UNITS], atol=1e-4)
    assert np.abs(outputs - np.clip(inputs @ weights + bias, 0, 20)).max() > 1e-3


def test_before_its_step_nothing_is_rounded() -> None:
    (inputs, weights, bias), (outputs, *_) = trained_layer(after=10, steps=9)
    np.testing.assert_allclose(outputs, np.clip(inputs @ weights + bias, 0, 20), atol=1e-4)


def test_gradients_go_through_the_rounding() -> None:
    (inputs, *_), (outputs, of_inputs, of_weights) = trained_layer(after=0, steps=0)
    passed = ((outputs > 0) & (outputs < 20)).astype(np.float32)
    np.testing.assert_allclose(of_weights, inputs.T @ passed, rtol=0.05, atol=np.abs(inputs).max() * 0.2)
    assert np.count_nonzero(of_inputs) > 0.9 * of_inputs.size


def test_columns_of_zeros_stay_zeros() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        rounded = rounded_columns(tf.zeros([4, 3]), 0)
        session.run(v1.global_variables_initializer())
        assert not session.run(rounded).any()


def test_only_training_rounds() -> None:
    options = SessionOptions(quantize_aware=True, quantize_after=7)
    assert compute_on("/cpu:0", options, training=True).quantize_after == 7
    assert compute_on("/cpu:0", options, training=False).quantize_after is None
    assert compute_on("/cpu:0", replace(options, quantize_aware=False), training=True).quantize_after is None


def test_an_lstms_weights_of_inputs_and_of_the_state_have_scales_of_their_own() -> None:
    kernel = np.random.default_rng(2).normal(size=(12, 8)).astype(np.float32) * np.repeat([1.0, 50.0], [7, 5])[:, None]
    with tf.Graph().as_default(), v1.Session() as session:
        rounded = rounded_kernel(tf.constant(kernel, tf.float32), 7, 0)
        session.run(v1.global_variables_initializer())
        error = np.abs(session.run(rounded) - kernel)
    assert 0 < error[:7].max() <= np.abs(kernel[:7]).max() / 253
    assert error[7:].max() > error[:7].max()


LAYERS_OF_ROWS = [
    Dense("layer", 70, clip=20.0),
    Projection("layer", 70),
    Convolution("layer", channels=5, input_channels=2, time=3, frequency=3, time_stride=2, frequency_stride=2),
    Convolution("layer", channels=70, input_channels=1, time=4, frequency=2, clip=20.0),
    FeedForward("layer", units=90),
    SelfAttention("layer", heads=2, chunk=4, left=3),
    ConvolutionModule("layer", before=3, after=2),
]


def test_every_layer_that_is_rounded_is_one_of_these_or_an_lstm_whose_state_only_the_engine_rounds() -> None:
    assert {*get_args(ROUNDED)} == {LSTM, TwoLSTMs, *map(type, LAYERS_OF_ROWS)}


@pytest.mark.parametrize("layer", LAYERS_OF_ROWS, ids=lambda layer: f"{type(layer).__name__} {layer.time_reduction}")
def test_layers_without_a_state_give_what_the_engine_does_in_int8(layer: Layer) -> None:
    random = np.random.default_rng(7)
    rows, width = 20, 12
    values = random.normal(size=(rows, width)).astype(np.float32) * random.uniform(0.1, 9, size=(rows, 1))
    weights = {
        variable.name: random.normal(0, 0.3, variable.shape).astype(np.float32) for variable in layer.variables(width)
    }

    def trained(compute: Compute) -> Any:
        with tf.Graph().as_default(), v1.Session() as session:
            inputs = tf.constant(values[:, None], tf.float32)
            at = Pass(tf.constant([rows]), tf.constant(rows), tf.constant(1), {}, training=False, compute=compute)
            outputs = computed(layer, Activations(inputs), at).joined(at.after(layer))
            gradients = tf.gradients(tf.reduce_sum(outputs), v1.trainable_variables())
            step = v1.train.get_or_create_global_step()
            session.run(v1.global_variables_initializer())
            for variable in v1.trainable_variables():
                variable.load(weights[variable.op.name], session)
            session.run(step.assign(10))
            assert all(np.count_nonzero(gradient) for gradient in session.run(gradients))
            return session.run(outputs)

    (engine,) = in_plans([LAYERS[type(layer)](layer, width, weights, Precision.INT8)])
    batch, _ = engine.run(Batch([values.astype(np.float32)], [True], 1), [engine.initial_state()])
    found, exact = trained(Compute(quantize_after=10)), trained(Compute(quantize_after=11))
    np.testing.assert_allclose(exact, trained(Compute()), atol=1e-5)
    error = np.abs(found - exact).mean()
    assert error > 1e-3
    assert np.abs(found - batch.rows).mean() < 0.02 * error  # a number at the middle of two steps may go either way


@pytest.mark.parametrize(
    ("name", "roundings"),
    [
        ("deepspeech", 3 * 2 + 3),  # layers 2, 3 and 5, and the LSTM's inputs and both parts of its kernel
        ("lstm", 2 + 2 * 3),  # the second convolution, and two LSTMs
        ("conformer", 2 + 2 + 2 * 4 * 2 * 2),  # two blocks of four layers of two products
        ("convolutional", 2 + 2 + 2 * 3 * 2 * 2),
    ],
)
def test_inner_layers_of_every_network_are_rounded(name: str, roundings: int) -> None:
    flags: dict[str, Any] = {
        "network": name,
        "n_hidden": 16,
        "lstm_layers": 2,
        "conformer_layers": 2,
        "attention_heads": 2,
        "convolutional_layers": 2,
    }
    with tf.Graph().as_default() as graph:
        trained_outputs(network(with_values(ModelOptions(), flags), 26, 5))
    kinds = [operation.type for operation in graph.get_operations()]
    assert sum(kind in ("If", "StatelessIf", "Merge") for kind in kinds) == roundings


@dataclass(frozen=True)
class Doubled(Layer):
    """A record of a kind that only this file knows."""

    def width(self, inputs: int) -> int:
        return 2 * inputs


def test_layers_of_unknown_kinds_are_refused() -> None:
    layers = (Dense("first", 8, clip=20.0), Doubled("doubled"), Dense("labels", 6))
    refusal = pytest.raises(NetworkError, match="--quantize_aware: layer doubled is a Doubled, which cannot be trained")
    with tf.Graph().as_default(), refusal:
        trained_outputs(Network("own", 26, layers))


def trained_outputs(some: Network) -> Outputs:
    features, lengths = v1.placeholder(tf.float32, [None, None, 26]), v1.placeholder(tf.int32, [None])
    return outputs_of(some, features, lengths, training=True, compute=Compute(quantize_after=3))
