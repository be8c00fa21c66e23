"""The results of a tower on a GPU, compared with those on the processor. Skipped if TensorFlow sees no GPU."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from deepspeech.network import network
from deepspeech.network.layers.compute import Compute, Kernels
from deepspeech.network.layers.lstm import LSTMState, lstm
from deepspeech.options import (
    ConformerOptions,
    ConvolutionalOptions,
    LSTMOptions,
    ModelOptions,
    NetworkOptions,
    OptimizerOptions,
    SessionOptions,
)
from deepspeech.options.model import PROVIDED
from deepspeech.training.graph import build_training_graph, session_config
from deepspeech.training.towers import GraphSettings, compute_devices, feeds, mean_gradients, padded_length_for
from deepspeech.util.feeding import Batch

v1 = tf.compat.v1
LABELS, COEFFICIENTS, FRAMES = 12, 20, 157
NETWORKS = {name: ModelOptions(network=name, n_hidden=32, dropout_rate=0.0) for name in PROVIDED} | {
    "deepspeech": ModelOptions(n_hidden=48, dropout_rate=0.0),
    "bidirectional": ModelOptions(
        network="lstm", n_hidden=32, dropout_rate=0.0, settings=NetworkOptions(bidirectional=True)
    ),
    "in chunks": ModelOptions(
        network="lstm",
        n_hidden=32,
        dropout_rate=0.0,
        settings=NetworkOptions(bidirectional=True, lstm=LSTMOptions(layers=2, chunk=10)),
    ),
    "conformer": ModelOptions(
        network="conformer",
        n_hidden=32,
        dropout_rate=0.0,
        settings=NetworkOptions(conformer=ConformerOptions(2), intermediate_ctc_weight=0.3),
    ),
    "convolutional": ModelOptions(
        network="convolutional",
        n_hidden=32,
        dropout_rate=0.0,
        settings=NetworkOptions(convolutional=ConvolutionalOptions(2)),
    ),
}


@dataclass(frozen=True)
class Computed:
    """The losses [batch] of a batch, and the mean gradient by each variable's name."""

    losses: Any
    gradients: dict[str, Any]


@pytest.fixture
def gpu() -> Iterator[str]:
    """Return the first GPU; its float32 products are exact during the test."""
    device = compute_devices()[0]
    if "gpu" not in device:
        pytest.skip("TensorFlow sees no GPU")
    before = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(False)
    yield device
    tf.config.experimental.enable_tensor_float_32_execution(before)


@pytest.mark.parametrize("name", NETWORKS)
def test_losses_and_gradients_are_those_of_the_processor(gpu: str, name: str) -> None:
    check_close(
        computed(gpu, NETWORKS[name], "off"), computed("/cpu:0", NETWORKS[name], "off"), losses=1e-4, gradients=0.001
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_in_bfloat16_they_are_so_within_its_precision(gpu: str, name: str) -> None:
    check_close(
        computed(gpu, NETWORKS[name], "on"), computed("/cpu:0", NETWORKS[name], "off"), losses=0.01, gradients=0.15
    )


@pytest.mark.parametrize("factor", [1e-20, 1e9])
def test_gradients_of_an_lstm_in_bfloat16_are_as_good_for_tiny_and_for_huge_ones_of_its_outputs(
    gpu: str, factor: float
) -> None:
    one, other = (of_lstm(gpu, times) for times in (1.0, factor))
    for ours, theirs in zip(other, one, strict=True):
        assert np.linalg.norm(ours / factor - theirs) < 0.01 * np.linalg.norm(theirs)


def of_lstm(device: str, factor: float) -> list[Any]:
    """Return the gradients by inputs, kernel and bias of an LSTM whose outputs are multiplied by the factor."""
    random = np.random.default_rng(2)
    values = [random.normal(size=shape) for shape in ((50, 3, 16), (16 + 24, 4 * 24), (4 * 24,))]
    with tf.Graph().as_default(), tf.device(device), v1.Session() as session:
        inputs, kernel, bias = (tf.constant(value, tf.float32) for value in values)
        state = LSTMState(tf.zeros([3, 24]), tf.zeros([3, 24]))
        factors = (tf.cast(value, tf.bfloat16) for value in (inputs, kernel))
        compute = Compute(Kernels.CUDNN, bfloat16=True)
        outputs, _ = lstm(next(factors), tf.constant([50, 20, 1]), next(factors), bias, state, compute)
        weighted = tf.cast(outputs, tf.float32) * tf.constant(random.normal(size=(50, 3, 24)) * factor, tf.float32)
        return list(session.run(tf.gradients(tf.reduce_sum(weighted), [inputs, kernel, bias])))


def check_close(ours: Computed, theirs: Computed, *, losses: float, gradients: float) -> None:
    np.testing.assert_allclose(ours.losses, theirs.losses, rtol=losses)
    for name, gradient in theirs.gradients.items():
        assert np.linalg.norm(gradient) > 0, name
        assert np.linalg.norm(ours.gradients[name] - gradient) < gradients * np.linalg.norm(gradient), name


def computed(device: str, model: ModelOptions, precision: str) -> Computed:
    some = network(model, COEFFICIENTS, LABELS, step_ms=10)
    settings = GraphSettings(some, SessionOptions(mixed_precision=precision), 1, OptimizerOptions())
    training = build_training_graph([device], settings)
    with (
        training.graph.as_default(),
        v1.Session(graph=training.graph, config=session_config(settings.session)) as session,
    ):
        of_variables = mean_gradients(training.train_towers)
        session.run(v1.global_variables_initializer())
        random = np.random.default_rng(1)
        for _, variable in of_variables:
            variable.load(random.normal(size=variable.shape, scale=0.2), session)
        gradients = {variable.op.name: gradient for gradient, variable in of_variables}
        (tower,) = training.train_towers
        return Computed(*session.run([tower.losses, gradients], feeds([tower], [utterances(random, device)])))


def utterances(random: Any, device: str) -> Batch:
    """Return six utterances, padded as for the device."""
    lengths = np.array([60, 81, 100, 118, 137, FRAMES], np.int32)
    features = random.normal(size=(len(lengths), FRAMES, COEFFICIENTS)).astype(np.float32)
    features[np.arange(FRAMES) >= lengths[:, None]] = 0
    features = np.pad(features, ((0, 0), (0, padded_length_for([device])(FRAMES) - FRAMES), (0, 0)))
    labels = random.integers(0, LABELS, (len(lengths), 6)).astype(np.int32)
    labels[0, 3:] = -1
    return Batch(range(len(lengths)), (), features, lengths, labels)
