"""Training for int8: what products are made of is rounded as the engine rounds it, and learns as if it were not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from deepspeech._acoustic import Int8Dense
from deepspeech.errors import NetworkError
from deepspeech.network import Dense, network
from deepspeech.network.layers.compute import Compute, compute_on
from deepspeech.network.layers.dense import dense
from deepspeech.network.rounding import rounded_columns, rounded_kernel
from deepspeech.network.training import outputs_of
from deepspeech.options import ModelOptions, SessionOptions
from deepspeech.serving.layers.blocks import columns_in_blocks, float32_weights, int8_weights

v1 = tf.compat.v1
ROWS, INPUTS, UNITS = 30, 70, 90


def trained_layer(after: int, steps: int) -> tuple[list[Any], list[Any]]:
    """Return inputs, weights and bias, and outputs with gradients of inputs and weights, when `steps` were done."""
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


def graph_of(name: str) -> int:
    """Return how many roundings the graph of a network in training has."""
    with tf.Graph().as_default() as graph:
        features, lengths = v1.placeholder(tf.float32, [None, None, 26]), v1.placeholder(tf.int32, [None])
        options = ModelOptions(network=name, n_hidden=16)
        outputs_of(network(options, 26, 5), features, lengths, training=True, compute=Compute(quantize_after=3))
        return sum(operation.type in ("If", "StatelessIf", "Merge") for operation in graph.get_operations())


def test_inner_layers_are_rounded_and_what_cannot_be_is_refused() -> None:
    assert graph_of("deepspeech") == 3 * 2 + 3  # layers 2, 3 and 5, and the LSTM's inputs and both parts of its kernel
    with pytest.raises(NetworkError, match=r"--quantize_aware: layer .* cannot be trained for int8"):
        graph_of("conformer")
