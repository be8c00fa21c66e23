"""Networks with layers that published clients lack: exported, computed by TensorFlow and the engine, streamed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tensorflow as tf
from numpy_network import posteriors, random_weights

from deepspeech import Model
from deepspeech.errors import ModelError
from deepspeech.export.formats import TrainedModel
from deepspeech.export.frozen_graph import frozen_graph
from deepspeech.network import ContextWindow, Network, network
from deepspeech.network.serialization import LAYERS
from deepspeech.options import ExportOptions, ModelOptions, NetworkOptions, with_values
from deepspeech.options.model import PROVIDED
from deepspeech.serving.engine import Engine, Piece
from deepspeech.serving.feature_windows import context_windows
from deepspeech.serving.frozen.model import FrozenModel, read_frozen_model
from deepspeech.serving.layers.precision import Precision
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet

v1 = tf.compat.v1
Array = npt.NDArray[np.float32]
ALPHABET = Alphabet(tuple(" abcde"))
SMALL = ModelOptions(n_hidden=20, settings=NetworkOptions(channels=4))
FLAGS: dict[str, dict[str, Any]] = {name: {"network": name} for name in PROVIDED[1:]} | {
    "lstm": {"network": "lstm", "lstm_layers": 2},
    "projected": {"network": "lstm", "lstm_layers": 2, "lstm_projection": 9},
    "every_20_ms": {"network": "lstm", "lstm_layers": 1, "output_step": 20},
    "of_four_convolutions": {"network": "lstm", "lstm_layers": 1, "convolutions": 4},
    "every_120_ms": {"network": "lstm", "lstm_layers": 1, "output_step": 120},
    "bidirectional": {"network": "lstm", "lstm_layers": 2, "bidirectional": True, "lstm_projection": 9},
    "in_chunks": {"network": "lstm", "lstm_layers": 2, "lstm_chunk": 4, "lstm_chunk_offset": 2},
    "conformer": {"network": "conformer", "conformer_layers": 2, "attention_heads": 2, "attention_chunk": 4},
    "conformer_of_short_sight": {
        **{"network": "conformer", "conformer_layers": 1, "attention_heads": 1, "attention_chunk": 3},
        **{"attention_left": 2, "convolution_kernel": 4},
    },
    "whole_conformer": {"network": "conformer", "conformer_layers": 2, "attention_heads": 2, "bidirectional": True},
    "convolutional": {"network": "convolutional", "convolutional_layers": 2, "convolution_kernel": 4},
}
NETWORKS = {name: with_values(SMALL, flags) for name, flags in FLAGS.items()}


def described(name: str) -> Network:
    return network(NETWORKS[name], 26, ALPHABET.size)


STREAMING = [name for name in NETWORKS if described(name).streams]


def exported(name: str, folder: Path) -> Path:
    """Write the graph of a network with random weights."""
    path, some = folder / f"{name}.pb", described(name)
    trained = TrainedModel(some, random_weights(some), ALPHABET, FeatureOptions())
    graph = frozen_graph(trained, ExportOptions(folder, n_steps=5))
    path.write_bytes(graph.SerializeToString())
    return path


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FrozenModel]:
    folder = tmp_path_factory.mktemp("graphs")
    return {name: read_frozen_model(exported(name, folder)) for name in NETWORKS}


def features_of(frames: int) -> Array:
    return np.random.default_rng(1).normal(size=(frames, 26)).astype(np.float32)


def windows_of(model: FrozenModel, features: Array) -> Array:
    padding = np.zeros((model.info.network.context, features.shape[1]), np.float32)
    return context_windows(np.concatenate([padding, features, padding]), model.info.network.context)


def test_every_layer_that_can_be_exported_is_in_one_of_these_networks() -> None:
    kinds = {type(layer) for name in NETWORKS for layer in described(name).layers}
    assert kinds >= {*LAYERS.values()} - {ContextWindow}


@pytest.mark.parametrize("name", NETWORKS)
def test_the_engine_computes_what_the_records_say(name: str, models: dict[str, FrozenModel]) -> None:
    model, some = models[name], described(name)
    assert model.info.network.to_json() == some.to_json()
    assert (model.info.n_steps, model.info.row_seconds) == (5, some.time_reduction * 0.02)
    for frames in (1, 2, 7, 40):
        features = features_of(frames)
        found = Engine(model).posteriors(windows_of(model, features))
        assert len(found) == some.rows(frames)
        np.testing.assert_allclose(found, posteriors(some, random_weights(some), features), atol=1e-4)


@pytest.mark.parametrize("name", NETWORKS)
def test_tensorflow_computes_the_same_from_the_graph(name: str, models: dict[str, FrozenModel]) -> None:
    features = np.stack([features_of(40), np.pad(features_of(13), [(0, 27), (0, 0)])])
    with tf.Graph().as_default() as graph, v1.Session() as session:
        tf.import_graph_def(v1.GraphDef.FromString(models[name].info.path.read_bytes()), name="")
        assert {operation.type for operation in graph.get_operations()}.isdisjoint({"VarHandleOp", "VariableV2"})
        fed = {"input_node:0": np.stack([windows_of(models[name], each) for each in features])[:, :, None]}
        fed["input_node:0"] = fed["input_node:0"].reshape(2, 40, -1, 26)
        found = session.run("logits:0", fed | {"input_lengths:0": [40, 13]})
    for column, frames in enumerate((40, 13)):
        expected = Engine(models[name]).posteriors(windows_of(models[name], features_of(frames)))
        np.testing.assert_allclose(found[: len(expected), column], expected, atol=1e-4)


@pytest.mark.parametrize("name", NETWORKS)
def test_utterances_of_a_batch_give_what_each_does_alone(name: str, models: dict[str, FrozenModel]) -> None:
    model = models[name]
    utterances = [windows_of(model, features_of(frames)) for frames in (40, 1, 7, 0, 300, 13)]
    for precision in Precision:
        engine = Engine(model, precision)
        pieces = [Piece(each, engine.initial_state(), last=True) for each in utterances]
        for windows, (found, _) in zip(utterances, engine.run_batch(pieces), strict=True):
            np.testing.assert_allclose(found, engine.posteriors(windows), atol=1e-5)
            np.testing.assert_allclose(found, Engine(model).posteriors(windows), atol=0.05)


@pytest.mark.parametrize("size", [1, 3, 8, 39])
@pytest.mark.parametrize("name", STREAMING)
def test_a_stream_of_pieces_of_any_size_gives_what_the_whole_does(
    name: str, size: int, models: dict[str, FrozenModel]
) -> None:
    engine, windows = Engine(models[name]), windows_of(models[name], features_of(41))
    state, pieces = engine.initial_state(), []
    for start in range(0, len(windows), size):
        engine.run(windows[start : start + size], state, last=True)  # as for a transcript so far, which changes nothing
        piece, state = engine.run(windows[start : start + size], state)
        pieces.append(piece)
        seen, needed = min(start + size, 41), described(name).look_ahead
        assert sum(map(len, pieces)) >= max(0, seen - needed) // described(name).time_reduction
    pieces.append(engine.run(windows[:0], state, last=True)[0])
    np.testing.assert_allclose(np.concatenate(pieces), engine.posteriors(windows), atol=1e-5)


def test_a_recording_longer_than_a_chunk_is_computed_in_chunks(models: dict[str, FrozenModel]) -> None:
    some, features = described("lstm"), features_of(1030)
    found = Engine(models["lstm"]).posteriors(windows_of(models["lstm"], features))
    np.testing.assert_allclose(found, posteriors(some, random_weights(some), features), atol=1e-4)


def test_a_bidirectional_network_refuses_to_stream_and_says_why(models: dict[str, FrozenModel]) -> None:
    model = Model(models["bidirectional"].info.path)
    samples = np.random.default_rng(1).integers(-9000, 9000, 16_000).astype(np.int16)
    assert isinstance(model.stt(samples), str)
    for begin in (model.stream, model.createStream):
        with pytest.raises(
            ModelError, match=r"bidirectional\.pb: cannot stream, as its layer lstm_1 is a Bidirectional"
        ):
            begin()
    streaming = Model(models["lstm"].info.path)
    with streaming.stream() as stream:
        for start in range(0, len(samples), 1000):
            stream.feed(samples[start : start + 1000])
        assert stream.finish().text == streaming.stt(samples)


def test_what_clients_cannot_run_is_told_of_their_layers_and_nothing_else_has_changed() -> None:
    deepspeech = network(ModelOptions(n_hidden=8), 26, ALPHABET.size)
    trained = TrainedModel(deepspeech, random_weights(deepspeech), ALPHABET, FeatureOptions())
    graph = frozen_graph(trained, ExportOptions())
    assert {node.name for node in graph.node} >= {"previous_state_c", "new_state_h"}
    assert not {node.name for node in graph.node} & {"metadata_network", "metadata_n_steps"}
