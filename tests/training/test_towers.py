from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import tensorflow as tf

from deepspeech.errors import NetworkError
from deepspeech.network import Convolution, Dense, IntermediateCTC, Layer, Network, Projection, network
from deepspeech.network.training import Activations, Pass, computed
from deepspeech.options import (
    ConformerOptions,
    ConvolutionalOptions,
    ModelOptions,
    NetworkOptions,
    OptimizerOptions,
    SessionOptions,
)
from deepspeech.options.model import PROVIDED
from deepspeech.training.graph import Session, build_training_graph, session_config
from deepspeech.training.towers import GraphSettings, build_towers, feeds, mean_gradients, padded_length_for
from deepspeech.util.batching.batches import Batching
from deepspeech.util.corpus import read_corpus
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.feeding import LABEL_PADDING, Batch, Feeder, OnTheFly
from deepspeech.util.text import Alphabet

v1 = tf.compat.v1
FEATURES = FeatureOptions()
DEVICES = ("/cpu:0", "/cpu:1")


@pytest.fixture(scope="module")
def joined_and_split(tiny_corpus: Any) -> tuple[int, Batch, list[Batch]]:
    """Return the number of labels, a batch of seven utterances, and the same in batches of four and three."""
    extractor = front_end(FEATURES)
    alphabet = Alphabet.load(tiny_corpus.alphabet)
    corpus = read_corpus([tiny_corpus.train], alphabet, extractor, limit=7)
    source = OnTheFly(corpus, extractor)
    return (
        alphabet.size,
        Feeder(corpus, source, Batching(7)).batch(0),
        list(Feeder(corpus, source, Batching(4)).batches([0, 1])),
    )


def settings_of(model: ModelOptions, label_count: int, optimizer: OptimizerOptions | None = None) -> GraphSettings:
    some = network(model, FEATURES.coefficients, label_count)
    return GraphSettings(some, SessionOptions(mixed_precision="off"), 7, optimizer)


def run(
    label_count: int, devices: tuple[str, ...], batches: list[Batch], *, at_once: int = 0
) -> tuple[list[Any], list[Any]]:
    """Return mean gradients, and the variables after a step of Adam, on `at_once` batches at a time, if given."""
    steps = [batches[begin : begin + at_once] for begin in range(0, len(batches), at_once)] if at_once else [batches]
    model = ModelOptions(n_hidden=24, dropout_rate=0.0)
    graph = build_training_graph(
        devices, settings_of(model, label_count, OptimizerOptions(accumulate_gradients=len(steps)))
    )
    config = v1.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=False)
    with graph.graph.as_default(), v1.Session(graph=graph.graph, config=config) as session:
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        pairs = mean_gradients(graph.train_towers)
        fed = feeds(graph.train_towers, steps[-1])
        gradients = session.run([gradient for gradient, _ in pairs], fed)
        for step in steps[:-1]:
            session.run(graph.accumulate, feeds(graph.train_towers, step))
        session.run(graph.train_step, fed)
        assert not any(np.any(each) for each in session.run(v1.local_variables()))
        return gradients, session.run([variable for _, variable in pairs])


def test_two_towers_give_the_gradients_and_the_step_of_one_with_the_joined_batch(joined_and_split: Any) -> None:
    label_count, joined, split = joined_and_split
    one, two = run(label_count, DEVICES[:1], [joined]), run(label_count, DEVICES, split)
    for ours, theirs in zip(two[0], one[0], strict=True):
        assert np.abs(theirs).max() > 0
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    for ours, theirs in zip(two[1], one[1], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_accumulated_batches_give_the_step_of_one_batch_as_large(joined_and_split: Any) -> None:
    label_count, joined, split = joined_and_split
    one, several = (
        run(label_count, DEVICES[:1], [joined])[1],
        run(label_count, DEVICES[:1], split, at_once=1)[1],
    )
    for ours, theirs in zip(several, one, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_a_tower_without_a_batch_counts_for_nothing(joined_and_split: Any) -> None:
    label_count, joined, _ = joined_and_split
    for ours, theirs in zip(
        run(label_count, DEVICES, [joined])[0], run(label_count, DEVICES[:1], [joined])[0], strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_the_best_path_of_a_tower_that_evaluates_is_padded_for_blanks_and_beyond_the_ends(
    joined_and_split: Any,
) -> None:
    label_count, joined, _ = joined_and_split
    graph = build_training_graph(DEVICES[:1], settings_of(ModelOptions(n_hidden=24), label_count))
    (tower,) = graph.evaluate_towers
    with graph.graph.as_default(), v1.Session(graph=graph.graph) as session:
        session.run(v1.global_variables_initializer())
        (bias,) = [variable for variable in v1.global_variables() if variable.op.name == "layer_6/bias"]
        session.run(bias.assign(tf.zeros_like(bias)))  # which makes blanks likely at first
        path, posteriors = session.run([tower.best_path, tower.posteriors], feeds([tower], [joined]))
    likeliest = posteriors.argmax(axis=2)
    inside = np.arange(len(path))[:, np.newaxis] < joined.lengths
    assert not inside.all()
    assert (path[~inside] == LABEL_PADDING).all()
    assert (path[inside] == np.where(likeliest == label_count, LABEL_PADDING, likeliest)[inside]).all()
    assert (path != LABEL_PADDING).any()


def test_an_inner_loss_is_of_all_rows_that_layers_after_it_make_fewer(joined_and_split: Any) -> None:
    label_count, joined, _ = joined_and_split
    first, last = Projection("first", 8), Dense("labels", label_count + 1)
    fewer = Convolution("fewer", channels=1, time_stride=2)
    whole, inner = (
        GraphSettings(Network("own", FEATURES.width, layers), SessionOptions(mixed_precision="off"), 7, None)
        for layers in ((first, IntermediateCTC("inner", 0.25), fewer, last), (first, last))
    )
    with tf.Graph().as_default(), v1.Session() as session:
        towers = [build_towers(DEVICES[:1], settings, training=True)[0] for settings in (whole, inner)]
        session.run(v1.global_variables_initializer())
        fed = {**feeds(towers[:1], [joined]), **feeds(towers[1:], [joined])}
        minimized, losses, of_inner = session.run([towers[0].minimized, *(each.losses for each in towers)], fed)
    np.testing.assert_allclose(minimized, 0.75 * losses + 0.25 * of_inner, rtol=1e-5)


def test_each_tower_computes_on_its_device(joined_and_split: Any) -> None:
    label_count, _, _ = joined_and_split
    graph = build_training_graph(DEVICES, settings_of(ModelOptions(n_hidden=8), label_count, OptimizerOptions()))
    for tower, device in zip(graph.train_towers, DEVICES, strict=True):
        assert tower.losses.device.lower().endswith(device[1:])
    with graph.graph.as_default():
        assert {variable.device.lower()[-5:] for variable in v1.trainable_variables()} == {"cpu:0"}


def test_batches_for_gpus_have_few_lengths_and_those_for_the_processor_the_longest_utterances() -> None:
    assert padded_length_for(["/gpu:0", "/gpu:1"])(1001) == 1024
    assert padded_length_for(["/cpu:0"])(1001) == 1001


@pytest.mark.parametrize("name", PROVIDED)
def test_frames_beyond_the_longest_utterance_change_no_loss_and_no_gradient(joined_and_split: Any, name: str) -> None:
    label_count, joined, _ = joined_and_split
    longer = replace(joined, features=np.pad(joined.features, ((0, 0), (0, 21), (0, 0))))
    few_layers = NetworkOptions(conformer=ConformerOptions(2), convolutional=ConvolutionalOptions(2))
    model = ModelOptions(network=name, n_hidden=16, dropout_rate=0.0, settings=few_layers)
    graph = build_training_graph(DEVICES[:1], settings_of(model, label_count, OptimizerOptions()))
    with graph.graph.as_default(), v1.Session(graph=graph.graph) as session:
        session.run(v1.global_variables_initializer())
        wanted = [graph.train_towers[0].losses, [gradient for gradient, _ in mean_gradients(graph.train_towers)]]
        one, other = (session.run(wanted, feeds(graph.train_towers, [batch])) for batch in (joined, longer))
    np.testing.assert_allclose(other[0], one[0], rtol=1e-5)
    for ours, theirs in zip(other[1], one[1], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4 * np.abs(theirs).max() + 1e-6)


def test_a_session_that_a_signal_kept_from_being_made_is_dropped_in_silence() -> None:
    Session.__new__(Session).__del__()


def test_weights_to_which_no_gradient_comes_are_named() -> None:
    @dataclass(frozen=True)
    class Stopping(Layer):
        def width(self, inputs: int) -> int:
            return inputs

    @computed.register
    def _stopping(layer: Stopping, inputs: Activations, at: Pass) -> Activations:
        del layer, at
        return Activations(tf.stop_gradient(inputs.values))

    own = Network("own", FEATURES.width, (Dense("first", 4, clip=20.0), Stopping("stopping"), Dense("labels", 3)))
    settings = GraphSettings(own, SessionOptions(mixed_precision="off"), 7, OptimizerOptions())
    with pytest.raises(NetworkError, match="variable first/weights: no gradient of the loss reaches it"):
        build_training_graph(DEVICES[:1], settings)


def test_operations_have_no_more_threads_than_a_container_has_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    assert session_config(SessionOptions(intra_op_threads=3)).intra_op_parallelism_threads == 3
    for module in ("util.parallel", "training.graph"):
        monkeypatch.setattr(f"deepspeech.{module}.processor_limit", Mock(return_value=0.5))
    assert session_config(SessionOptions()).intra_op_parallelism_threads == 1
    assert session_config(SessionOptions(intra_op_threads=3)).intra_op_parallelism_threads == 3
