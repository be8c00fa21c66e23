"""In training, every kind of layer computes what its record says, with the right gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tensorflow as tf
from numpy_network import outputs, random_weights

from deepspeech.errors import NetworkError
from deepspeech.network import (
    LSTM,
    BidirectionalLSTM,
    ChunkedLSTM,
    ContextWindow,
    Convolution,
    ConvolutionModule,
    Dense,
    FeedForward,
    IntermediateCTC,
    Layer,
    LayerNormalization,
    Network,
    Projection,
    SelfAttention,
    network,
)
from deepspeech.network.layers.compute import Compute, Kernels
from deepspeech.network.layers.dropout import skip_dropout_seeds
from deepspeech.network.serialization import LAYERS as OF_GRAPHS
from deepspeech.network.training import outputs_of
from deepspeech.options import LSTMOptions, ModelOptions, NetworkOptions

v1 = tf.compat.v1

LAYERS: dict[str, tuple[Layer, ...]] = {
    "convolution": (Convolution("c", channels=5, time_stride=2, frequency_stride=2, clip=2.0),),
    "even_kernels": (Convolution("c", channels=3, time=4, frequency=2, time_stride=3),),
    "two_convolutions": (
        Convolution("c", channels=4, time_stride=2, frequency_stride=2, clip=2.0),
        Convolution("d", channels=3, input_channels=4, time_stride=2, frequency_stride=3, clip=2.0),
    ),
    "channels_read_as_frequencies": (Convolution("c", channels=6), Convolution("d", channels=4, input_channels=2)),
    "normalization": (LayerNormalization("n"),),
    "projection": (Projection("p", units=6),),
    "lstm": (LSTM("l", units=7),),
    "bidirectional_lstm": (BidirectionalLSTM("b", units=7),),
    "chunked_lstm": (ChunkedLSTM("c", units=7, chunk=3), ChunkedLSTM("d", units=5, chunk=4)),
    "one_chunk": (ChunkedLSTM("c", units=7, chunk=20),),
    "chunks_of_other_ends": (ChunkedLSTM("c", units=7, chunk=6), ChunkedLSTM("d", units=5, chunk=6, offset=4)),
    "feed_forward": (Projection("p", units=6), FeedForward("f", units=9)),
    "attention": (Projection("p", units=12), SelfAttention("a", heads=3)),
    "chunked_attention": (Projection("p", units=8), SelfAttention("a", heads=2, chunk=3, left=2)),
    "convolution_module": (Projection("p", units=6), ConvolutionModule("m", before=3, after=2)),
    "after_a_convolution": (Convolution("c", channels=2, time_stride=2), LayerNormalization("n"), LSTM("l", units=5)),
    "after_linear_layers": (
        *(Dense("a", units=6), LSTM("l", units=5), Dense("b", units=6), BidirectionalLSTM("m", units=4)),
        *(Dense("c", units=6), ChunkedLSTM("n", units=4, chunk=3), Dense("d", units=6), FeedForward("f", units=5)),
    ),
}
LENGTHS = (11, 4, 1)


def described(name: str) -> Network:
    return Network(name, 10, (*LAYERS[name], Dense("labels", units=4)))


def run(some: Network, fetch: Any, compute: Compute = Compute(Kernels.NATIVE)) -> Any:  # noqa: B008
    """Return the value of `fetch` of the logits and variables, in a session with random weights."""
    features = np.random.default_rng(1).normal(size=(3, max(LENGTHS), some.coefficients)).astype(np.float32)
    for row, length in zip(features, LENGTHS, strict=True):
        row[length:] = 0
    with tf.Graph().as_default(), v1.Session() as session:
        logits = outputs_of(some, tf.constant(features), tf.constant(LENGTHS), training=False, compute=compute).logits
        variables = {variable.op.name: variable for variable in v1.trainable_variables()}
        session.run(v1.global_variables_initializer())
        for each, value in random_weights(some).items():
            variables[each].load(value, session)
        return fetch(session, logits, variables, features)


def expected(some: Network, features: npt.NDArray[np.float32]) -> list[Any]:
    made = []
    for row, length in zip(features, LENGTHS, strict=True):
        values: Any = row[:length].astype(np.float64)
        for layer in some.layers:
            values = outputs(layer, values, random_weights(some))
        made.append(values)
    return made


def test_every_layer_that_can_be_exported_is_among_them() -> None:
    found = {type(layer) for name in LAYERS for layer in described(name).layers}
    assert found >= {*OF_GRAPHS.values()} - {ContextWindow}


@pytest.mark.parametrize("kernels", [Kernels.NATIVE, Kernels.TENSORFLOW])
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_computes_what_its_record_says(name: str, kernels: Kernels) -> None:
    some = described(name)
    logits, features = run(some, lambda session, logits, _, features: (session.run(logits), features), Compute(kernels))
    assert len(logits) == some.rows(max(LENGTHS))
    for column, values in enumerate(expected(some, features)):
        assert len(values) == some.rows(LENGTHS[column])
        np.testing.assert_allclose(logits[: len(values), column], values, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_bfloat16_is_as_near_as_its_precision(name: str) -> None:
    some = described(name)
    logits, features = run(
        some,
        lambda session, logits, _, features: (session.run(logits), features),
        Compute(Kernels.NATIVE, bfloat16=True),
    )
    for column, values in enumerate(expected(some, features)):
        assert np.linalg.norm(logits[: len(values), column] - values) < 0.02 * np.linalg.norm(values)


@pytest.mark.parametrize(
    "name",
    [
        *("two_convolutions", "normalization", "bidirectional_lstm", "chunked_lstm", "feed_forward", "attention"),
        "convolution_module",
    ],
)
def test_gradients_are_those_of_small_differences(name: str) -> None:
    def check(session: Any, logits: Any, variables: Any, _features: Any) -> None:
        weighting = np.random.default_rng(2).normal(size=session.run(tf.shape(logits))).astype(np.float32)
        for column, length in enumerate(LENGTHS):
            weighting[described(name).rows(length) :, column] = 0
        total = tf.reduce_sum(logits * weighting)
        gradients = session.run(tf.gradients(total, list(variables.values())))
        random = np.random.default_rng(5)
        for variable, gradient in zip(variables.values(), gradients, strict=True):
            value, direction = session.run(variable), random.normal(size=variable.shape).astype(np.float32)
            direction /= np.linalg.norm(direction)
            totals = []
            for step in (1e-2, -1e-2):
                variable.load(value + step * direction, session)
                totals.append(float(session.run(total)))
            variable.load(value, session)
            slope = (totals[0] - totals[1]) / 2e-2
            np.testing.assert_allclose((gradient * direction).sum(), slope, rtol=0.02, atol=0.02)

    run(described(name), check)


@pytest.mark.parametrize(
    "layer",
    [
        Convolution("c", channels=4, frequency=8, frequency_stride=8),
        Convolution("c", channels=4, input_channels=2, time=1, frequency=1, frequency_stride=4),
    ],
    ids=["to_one_frequency", "that_skips_frequencies"],
)
def test_a_convolution_has_its_gradients_in_bfloat16(layer: Convolution) -> None:
    some = Network("some", 26, (Projection("p", units=8), layer, Dense("labels", units=4)))
    features = np.random.default_rng(1).normal(size=(3, 40, 26)).astype(np.float32)

    def gradient(compute: Compute) -> Any:
        with tf.Graph().as_default(), v1.Session() as session:
            logits = outputs_of(
                some, tf.constant(features), tf.constant([40, 17, 5]), training=True, compute=compute
            ).logits
            variables = {variable.op.name: variable for variable in v1.trainable_variables()}
            for name, value in random_weights(some).items():
                variables[name].load(value, session)
            wanted = dict(zip(variables, tf.gradients(logits**2, [*variables.values()]), strict=True))
            return np.stack([session.run(wanted)["c/kernel"] for _ in range(10)])

    exact, rounded = (gradient(Compute(Kernels.NATIVE, bfloat16=each)) for each in (False, True))
    assert np.linalg.norm(rounded - exact) < 0.03 * np.linalg.norm(exact)


@pytest.mark.parametrize("kernels", [Kernels.NATIVE, Kernels.TENSORFLOW])
@pytest.mark.parametrize(
    "some",
    [
        network(
            ModelOptions(8, dropout_rate=0.5, network="lstm", settings=NetworkOptions(lstm=LSTMOptions(layers=2))),
            10,
            4,
        ),
        Network("in", 10, (Convolution("c", channels=2), LSTM("l", 8, input_dropout=0.5), Dense("labels", units=5))),
        Network("out", 10, (LSTM("l", 8, output_dropout=0.5), Dense("labels", units=5))),
        Network("linear", 10, (Dense("d", 8, dropout=0.5), Dense("labels", units=5))),
    ],
    ids=lambda some: some.name,
)
def test_what_is_dropped_depends_on_the_step_alone(some: Network, kernels: Kernels) -> None:
    def third(skipped: int) -> Any:
        with tf.Graph().as_default(), v1.Session() as session:
            v1.set_random_seed(1)
            features = tf.ones([1, 8, 10])
            logits = outputs_of(some, features, tf.constant([8]), training=True, compute=Compute(kernels)).logits
            session.run(v1.global_variables_initializer())
            for variable in v1.trainable_variables():
                variable.load(random_weights(some)[variable.op.name], session)
            skip_dropout_seeds(session, skipped)
            return [session.run(logits) for _ in range(3 - skipped)]

    in_one_go = third(0)
    assert np.abs(in_one_go[0] - in_one_go[1]).max() > 1e-3
    np.testing.assert_array_equal(third(2)[-1], in_one_go[-1])


def test_inner_layers_have_losses_in_training_alone() -> None:
    losses = NetworkOptions(intermediate_ctc_weight=0.4, intermediate_ctc_layers=("1", "2"), lstm=LSTMOptions(layers=3))
    some = network(ModelOptions(network="lstm", n_hidden=8, settings=losses), 10, 4)
    assert "IntermediateCTC" not in {record["layer"] for record in some.to_json()}
    with tf.Graph().as_default(), v1.Session() as session:
        features, lengths = tf.ones([1, 9, 10]), tf.constant([9])
        trained, evaluated = (outputs_of(some, features, lengths, training=each) for each in (True, False))
        session.run(v1.global_variables_initializer())
        assert [(weight, of.logits.shape[2]) for weight, of in trained.intermediate] == [(0.2, 5), (0.2, 5)]
        assert not evaluated.intermediate
        assert session.run(trained.lengths).tolist() == [5]
        shapes = [session.run(tf.shape(of.logits)).tolist() for _, of in trained.intermediate]
        assert shapes == [[5, 1, 5]] * 2
    with pytest.raises(NetworkError, match="intermediate has 4 inputs"):
        Network("x", 4, (IntermediateCTC("intermediate"), Projection("p", 5), Dense("labels", 3)))


@pytest.mark.parametrize("weights", [(0.3, 0.3, 0.3, 0.3), (0.5, 0.5), (-0.1, 0.3)])
def test_losses_of_inner_layers_leave_the_whole_network_a_share(weights: tuple[float, ...]) -> None:
    inner = tuple(IntermediateCTC(f"inner_{number}", weight) for number, weight in enumerate(weights))
    with pytest.raises(NetworkError, match="their sum must be less than 1"):
        Network("x", 4, (*inner, Dense("labels", 3)))
    assert Network("x", 4, (*inner[1:2], Dense("labels", 3))).outputs == 3
