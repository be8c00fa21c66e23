"""Models for features of every kind: training and serving compute the same, whole and in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tensorflow as tf
from corpora import say
from untrained import MODELS

from deepspeech.checkpoints.identity import ModelIdentity
from deepspeech.errors import ModelError
from deepspeech.export import model_card
from deepspeech.export.formats import TrainedModel
from deepspeech.export.frozen_graph import frozen_graph
from deepspeech.export.onnx_graph import normalization as onnx
from deepspeech.network import Network
from deepspeech.network.layers import normalization as training
from deepspeech.network.layers.normalization import DEVIATION, MEAN
from deepspeech.options import (
    ConformerOptions,
    ExportOptions,
    ModelOptions,
    NetworkOptions,
    OptimizerOptions,
    SessionOptions,
)
from deepspeech.serving import feature_windows
from deepspeech.serving.api import Model
from deepspeech.serving.engine import Engine
from deepspeech.serving.feature_windows import ModelFeatures
from deepspeech.serving.frozen.model import read_frozen_model
from deepspeech.training.features.statistics import sample
from deepspeech.training.graph import build_training_graph
from deepspeech.training.towers import GraphSettings
from deepspeech.util.features import NO_NORMALIZATION, NORMALIZATIONS, FeatureOptions, front_end
from deepspeech.util.frames.normalization import FeatureStatistics
from deepspeech.util.text import Alphabet

v1 = tf.compat.v1
Array = npt.NDArray[np.float32]
ALPHABET = Alphabet(tuple(" abcde"))
SMALL = ModelOptions(n_hidden=24)
SIGNALS = [say(text, np.random.default_rng(2)) for text in ("ab cd", "e", "bad ace bee")]

CONFORMER = ModelOptions(
    n_hidden=24, network="conformer", settings=NetworkOptions(channels=4, conformer=ConformerOptions(layers=1, chunk=4))
)

KINDS = [
    FeatureOptions(feature_type="fbank", normalization="global", stack_frames=3),
    FeatureOptions(feature_type="fbank", normalization="running", stack_frames=2, skip_frames=1),
    FeatureOptions(8000, "fbank", coefficients=40, skip_frames=3),
    FeatureOptions(normalization="running"),
    FeatureOptions(normalization="global", stack_frames=2),
    FeatureOptions(feature_type="fbank", normalization="utterance", stack_frames=2),
]

REDUCING = [
    (KINDS[0], ModelOptions(n_hidden=24, network="lstm", settings=NetworkOptions(channels=4, output_step=60))),
    (KINDS[1], ModelOptions(n_hidden=24, network="lstm", settings=NetworkOptions(channels=4, bidirectional=True))),
    (FeatureOptions(feature_type="fbank", normalization="running", stack_frames=2), CONFORMER),
]
"""Networks that reduce several frames to one output, for stacked frames."""


class Built:
    """A model with random weights in the graph of training, and its export."""

    def __init__(self, session: Any, tower: Any, path: Path, options: FeatureOptions, network: Network) -> None:
        self._session, self._tower = session, tower
        self._options = options
        self.path = path
        self.network = network

    def of_training(self, signals: Sequence[Array]) -> list[Array]:
        """Return the posteriors [rows, labels + 1] of each signal, computed in one batch."""
        extract = front_end(self._options).extract
        frames = [self._options.stacking(extract(signal)) for signal in signals]
        batch = np.zeros((len(frames), max(map(len, frames)), self._options.width), np.float32)
        for row, of_one in zip(batch, frames, strict=True):
            row[: len(of_one)] = of_one
        lengths = [len(each) for each in frames]
        fed = {self._tower.features: batch, self._tower.lengths: lengths}
        posteriors = self._session.run(self._tower.posteriors, fed)
        return [posteriors[: self.network.rows(length), column] for column, length in enumerate(lengths)]


@contextmanager
def built(options: FeatureOptions, folder: Path, model: ModelOptions = SMALL) -> Iterator[Built]:
    network = ModelIdentity(ALPHABET, options, model).network
    settings = GraphSettings(network, SessionOptions(mixed_precision="off"), 1, OptimizerOptions(), options)
    graph = build_training_graph(("/cpu:0",), settings)
    extract = front_end(options).extract
    statistics = FeatureStatistics.of(extract(signal) for signal in SIGNALS) if options.normalized else None
    with v1.Session(graph=graph.graph) as session, graph.graph.as_default():
        session.run(v1.global_variables_initializer())
        by_name = {variable.op.name: variable for variable in v1.global_variables()}
        if statistics is not None:
            by_name[MEAN].load(statistics.mean, session)
            by_name[DEVIATION].load(statistics.deviation, session)
            assert not {MEAN, DEVIATION} & {variable.op.name for variable in v1.trainable_variables()}
        else:
            assert MEAN not in by_name
        weights = {name: session.run(by_name[name]) for name in network.shapes}
        trained = TrainedModel(network, weights, ALPHABET, options, statistics)
        definition = frozen_graph(trained, ExportOptions(folder))
        path = folder / "output_graph.pb"
        path.write_bytes(definition.SerializeToString())
        yield Built(session, graph.evaluate_towers[0], path, options, network)


@pytest.mark.parametrize("kind", [kind for kind in NORMALIZATIONS if kind != NO_NORMALIZATION])
def test_every_normalization_is_computed_and_compared_wherever_features_are(kind: str) -> None:
    tables = {
        training: training.COMPUTED,
        feature_windows: feature_windows.NORMALIZATIONS,
        onnx: onnx.COMPUTED,
        model_card: model_card.NORMALIZED_BY,
    }
    lacking = [module.__name__ for module, table in tables.items() if kind not in table]
    assert not lacking, f"{kind} is not in the table of normalizations of {', '.join(lacking)}"
    assert kind in {options.normalization for options in KINDS}, f"no features of KINDS are normalized by {kind}"
    assert kind in {options.normalization for _, options in MODELS.values()}, f"no model of untrained.py has {kind}"


@pytest.mark.parametrize("options", KINDS, ids=lambda options: options.in_words)
def test_what_is_trained_on_is_served_whole_and_in_pieces(options: FeatureOptions, tmp_path: Path) -> None:
    with built(options, tmp_path) as model:
        frozen = read_frozen_model(model.path)
        assert frozen.info.features == options
        engine, features = Engine(frozen), ModelFeatures(frozen.info)
        served = Model(model.path)
        assert served.step_seconds == options.network_step_ms / 1000
        for signal, expected in zip(SIGNALS, model.of_training(SIGNALS), strict=True):
            whole, _ = engine.run(features.windows_of(signal), engine.initial_state())
            np.testing.assert_allclose(whole, expected, atol=1e-4)
            stream = features.windows()
            pieces = [stream.feed(signal[start : start + 700]) for start in range(0, len(signal), 700)]
            streamed, _ = engine.run(np.concatenate([*pieces, stream.finish()]), engine.initial_state())
            np.testing.assert_allclose(streamed, served.posteriors(signal), atol=1e-4)
            if options.feature_type == "fbank":  # a stream of audio_ops has one more frame, as DeepSpeech's clients
                np.testing.assert_allclose(streamed, expected, atol=1e-4)


@pytest.mark.parametrize(("options", "network"), REDUCING, ids=["lstm", "bidirectional", "conformer"])
def test_networks_with_fewer_outputs_than_frames_take_stacked_and_normalized_frames(
    options: FeatureOptions, network: ModelOptions, tmp_path: Path
) -> None:
    with built(options, tmp_path, network) as model:
        assert model.network.time_reduction > 1
        frozen = read_frozen_model(model.path)
        assert (frozen.info.features, frozen.info.network.to_json()) == (options, model.network.to_json())
        engine, features, served = Engine(frozen), ModelFeatures(frozen.info), Model(model.path)
        assert served.step_seconds == options.network_step_ms * model.network.time_reduction / 1000
        for signal, expected in zip(SIGNALS, model.of_training(SIGNALS), strict=True):
            np.testing.assert_allclose(engine.posteriors(features.windows_of(signal)), expected, atol=1e-4)
            np.testing.assert_allclose(served.posteriors(signal), expected, atol=1e-4)


def test_a_model_normalized_by_whole_recordings_says_that_it_cannot_stream(tmp_path: Path) -> None:
    with built(KINDS[-1], tmp_path) as model:
        served = Model(model.path)
        for begin in (served.createStream, served.stream):
            with pytest.raises(ModelError, match="cannot stream, as its features are normalized by the whole"):
                begin()


def test_features_that_published_clients_compute_are_exported_as_ever(tmp_path: Path) -> None:
    with built(FeatureOptions(), tmp_path) as plain, built(KINDS[0], tmp_path / "..") as other:
        named = [{node.name for node in v1.GraphDef.FromString(each.path.read_bytes()).node} for each in (plain, other)]
        other.path.unlink()
    ours_alone = {"metadata_features"}
    theirs_alone = {"input_samples", "mfccs", "metadata_feature_win_len", "metadata_feature_win_step"}
    assert theirs_alone <= named[0] and not ours_alone & named[0]
    assert ours_alone <= named[1] and not theirs_alone & named[1]


def test_a_sample_has_utterances_of_all_lengths_and_no_more_than_are_needed() -> None:
    lengths = list(range(1, 1001))
    chosen = sample(lengths, sum(lengths) / 10)
    assert (chosen[0], chosen[-1]) == (0, 999)
    assert sum(lengths[index] for index in chosen) == pytest.approx(sum(lengths) / 10, rel=0.05)
    assert sample(lengths, 1e9) == list(range(1000))
    assert sample([5], 1) == [0]
