from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from deepspeech.errors import NetworkError
from deepspeech.network import Dense, Layer, Network, Variable, network
from deepspeech.network.description import BLANK_BIAS, ONES
from deepspeech.network.layers.compute import Compute
from deepspeech.network.layers.context_window import context_windows
from deepspeech.network.layers.variables import variables_of
from deepspeech.network.training import Activations, Pass, computed, outputs_of
from deepspeech.options import ModelOptions
from deepspeech.options.model import PROVIDED
from deepspeech.util.features import FeatureOptions

v1 = tf.compat.v1
FEATURES = FeatureOptions()


def logits(features: Any, lengths: Any, options: ModelOptions, training: bool = False, labels: int = 5) -> Any:
    described = network(options, FEATURES.coefficients, labels)
    return outputs_of(described, tf.constant(features), tf.constant(lengths), training=training).logits


def random_features(batch: int, time: int) -> Any:
    return np.random.default_rng(0).normal(size=(batch, time, FEATURES.coefficients)).astype(np.float32)


def test_variables_have_the_names_and_shapes_of_deepspeech_0_9() -> None:
    options = ModelOptions(n_hidden=16)
    cell = "cudnn_lstm/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell"
    with tf.Graph().as_default():
        logits(random_features(2, 4), [4, 3], options, labels=28)
        made = {variable.op.name: tuple(variable.shape) for variable in v1.global_variables()}
    assert made == network(options, FEATURES.coefficients, 28).shapes
    assert made["layer_1/weights"] == (494, 16)
    assert made["layer_6/bias"] == (29,)
    assert made[f"{cell}/kernel"] == (32, 64)
    assert made[f"{cell}/bias"] == (64,)


@pytest.mark.parametrize("name", PROVIDED)
def test_every_network_computes_in_bfloat16_what_it_does_in_float32_within_its_precision(name: str) -> None:
    described = network(ModelOptions(network=name, n_hidden=16), FEATURES.coefficients, 28)
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)
        inputs = tf.constant(random_features(2, 60)), tf.constant([60, 41])
        each = [Compute(), Compute(bfloat16=True)]
        wanted = [outputs_of(described, *inputs, training=False, compute=compute).logits for compute in each]
        session.run(v1.global_variables_initializer())
        exact, rounded = session.run(wanted)
    assert 0 < np.abs(rounded - exact).max() < 0.05 * np.abs(exact).max()


def test_a_beginning_of_values_that_there_is_not_is_named() -> None:
    class Scale(Layer):
        def width(self, inputs: int) -> int:
            return inputs

        def variables(self, inputs: int) -> tuple[Variable, ...]:
            return (Variable(f"{self.name}/scale", (inputs,), "twos"),)

    with tf.Graph().as_default(), pytest.raises(NetworkError, match=r"mine/scale: .* no initial value 'twos'; .* ones"):
        variables_of(Scale("mine"), 4)


def test_weights_of_which_the_record_does_not_tell_are_refused() -> None:
    @dataclass(frozen=True)
    class Own(Layer):
        names: tuple[str, ...] = ()

        def width(self, inputs: int) -> int:
            return inputs

        def variables(self, inputs: int) -> tuple[Variable, ...]:
            return tuple(Variable(name, (inputs, inputs), ONES) for name in self.names)

    @computed.register
    def _own(layer: Own, inputs: Activations, at: Pass) -> Activations:
        x = inputs.joined(at)
        if not layer.names:
            return Activations(tf.keras.layers.Dense(x.shape[1])(x))
        if layer.names == ("own/mean",):
            return Activations(x - v1.get_variable("mean", x.shape[1], trainable=False))
        return Activations(x + tf.matmul(x, variables_of(layer, x.shape[1])[0]))

    def made_of(*names: str) -> None:
        layers = (Own("own", names), Dense("labels", 3))
        with tf.Graph().as_default():
            outputs_of(Network("some", 4, layers), tf.zeros([1, 2, 4]), tf.constant([2]), training=True)

    made_of("own/weights")
    with pytest.raises(NetworkError, match=r"layer own: makes the variable own/weights, which is not in its record"):
        made_of("weights")
    with pytest.raises(NetworkError, match="layer own: makes the variable mean, which is not in its record"):
        made_of("own/mean")
    with pytest.raises(NetworkError, match=r"layer own: makes the variable .*dense.*/kernel, which is not in"):
        made_of()


def test_a_frame_stands_between_its_neighbours_with_zeros_beyond_the_ends() -> None:
    features = random_features(1, 12)
    with tf.Graph().as_default(), v1.Session() as session:
        windows = session.run(context_windows(tf.constant(features.transpose(1, 0, 2)), 9))
    padded = np.pad(features[0], [(9, 9), (0, 0)])
    for frame in range(12):
        np.testing.assert_array_equal(windows[frame, 0], padded[frame : frame + 19].reshape(-1))


def test_padding_and_neighbours_in_the_batch_do_not_change_an_utterances_logits() -> None:
    options = ModelOptions(n_hidden=16)
    features = random_features(2, 20)
    features[0, 13:] = 0
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)
        together = logits(features, [13, 20], options)
        alone = logits(features[:1, :13], [13], options)
        session.run(v1.global_variables_initializer())
        joined, single = session.run([together, alone])
    np.testing.assert_allclose(joined[:13, 0], single[:, 0], atol=1e-5)


def test_dropout_acts_in_training_only() -> None:
    options = ModelOptions(n_hidden=16, dropout_rate=0.5, dropout_rate4=0.5, dropout_rate5=0.5)
    features = random_features(1, 6)
    with tf.Graph().as_default(), v1.Session() as session:
        evaluated, trained = logits(features, [6], options), logits(features, [6], options, training=True)
        session.run(v1.global_variables_initializer())
        first, second = session.run(evaluated), session.run(evaluated)
        noisy, noisier = session.run(trained), session.run(trained)
    np.testing.assert_array_equal(first, second)
    assert np.abs(noisy - noisier).max() > 1e-3


def test_activations_are_clipped() -> None:
    options = ModelOptions(n_hidden=16, relu_clip=0.001)
    with tf.Graph().as_default(), v1.Session() as session:
        out = logits(random_features(1, 6) * 1000, [6], options)
        session.run(v1.global_variables_initializer())
        (bias,) = (variable for variable in v1.global_variables() if variable.op.name == "layer_6/bias")
        assert np.abs(session.run(out) - session.run(bias)).max() < 0.1


@pytest.mark.parametrize("labels", [5, 28, 4000])
def test_a_network_begins_with_blanks_that_are_likelier_than_any_label(labels: int) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        out = logits(random_features(1, 6), [6], ModelOptions(n_hidden=16, relu_clip=0.001), labels=labels)
        session.run(v1.global_variables_initializer())
        posteriors = session.run(tf.nn.softmax(out))
    assert posteriors[:, 0, -1] / posteriors[:, 0, 0] == pytest.approx(np.exp(BLANK_BIAS), rel=0.01)
