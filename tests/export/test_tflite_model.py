"""LiteRT files in `Model`: this program's, those that TensorFlow converts, and malicious ones."""

from __future__ import annotations

import random
from importlib import util
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from dense_models import ALPHABET, NETWORKS, trained_model
from tensorflow.lite.python import schema_py_generated as schema
from tflite_models import Array

from deepspeech import Model
from deepspeech.errors import DeepSpeechError, GraphError, ModelError
from deepspeech.export.formats import FORMATS, TrainedModel
from deepspeech.network import Network
from deepspeech.options import ExportOptions
from deepspeech.serving.acoustics.loading import load_acoustic_model
from deepspeech.serving.engine import AcousticEngine, Piece
from deepspeech.util.audio import read_audio
from deepspeech.util.features import FeatureOptions
from deepspeech.util.frames.normalization import FeatureStatistics

v1 = tf.compat.v1


def write(folder: Path, model: TrainedModel, **options: Any) -> Path:
    path = folder / "model.tflite"
    path.write_bytes(FORMATS["tflite"].serialized(model, ExportOptions(**options)))
    return path


def in_pieces(engine: AcousticEngine, windows: Array, size: int) -> Array:
    """Return the posteriors of windows that arrive in groups, in a batch with another utterance."""
    rows, state, other = [], engine.initial_state(), engine.initial_state()
    for start in range(0, len(windows), size):
        piece = windows[start : start + size]
        last = start + size >= len(windows)
        pieces = [Piece(piece, state, last), Piece(piece[::-1], other, last)]
        (computed, state), (_, other) = engine.run_batch(pieces)
        rows.append(computed)
    return np.concatenate(rows)


def test_a_model_is_the_same_in_both_formats(
    tflite_file: Path, model: Model, recordings: list[Path], tmp_path: Path
) -> None:
    renamed = tmp_path / "model"
    renamed.write_bytes(tflite_file.read_bytes())
    ours = Model(renamed)
    assert (ours.beamWidth(), ours.sampleRate(), ours.language) == (32, 16_000, "xx")
    assert ours.alphabet == model.alphabet
    for recording in recordings[:4]:
        signal = read_audio(recording, 16_000)
        np.testing.assert_allclose(ours.posteriors(signal), model.posteriors(signal), atol=1e-4)
        samples = (signal * 32768).round().astype(np.int16)
        assert ours.stt(samples) == model.stt(samples)
        stream = ours.createStream()
        for start in range(0, len(samples), 700):
            stream.feedAudioContent(samples[start : start + 700])
        assert stream.finishStream() == model.stt(samples)
    assert Model(renamed, "auto").stt(samples) == model.stt(samples)
    with pytest.raises(ModelError, match="its weights are what they are"):
        Model(renamed, "int8")


@pytest.mark.parametrize("described", NETWORKS, ids=lambda each: each.name)
def test_posteriors_are_the_same_however_the_windows_come(described: Network, tmp_path: Path) -> None:
    trained = trained_model(described)
    loaded = load_acoustic_model(write(tmp_path, trained, n_steps=5))
    (tmp_path / "graph.pb").write_bytes(FORMATS["graph"].serialized(trained, ExportOptions(n_steps=5)))
    graph = load_acoustic_model(tmp_path / "graph.pb")
    assert loaded.info.network.context == graph.info.network.context
    assert loaded.info.n_steps == 5
    windows = np.random.default_rng(7).normal(size=(23, described.window_width)).astype(np.float32)
    expected = graph.engine.posteriors(windows)
    np.testing.assert_allclose(loaded.engine.posteriors(windows), expected, atol=1e-4)
    for size in (1, 4, 5, 7):
        np.testing.assert_allclose(in_pieces(loaded.engine, windows, size), expected, atol=1e-4)


def test_features_that_clients_do_not_compute_are_described(tmp_path: Path) -> None:
    features = FeatureOptions(feature_type="fbank", coefficients=26, normalization="running")
    statistics = FeatureStatistics(np.arange(26, dtype=np.float32), np.ones(26, np.float32))
    plain = trained_model(NETWORKS[0], features)
    trained = TrainedModel(plain.network, plain.weights, ALPHABET, features, statistics)
    info = load_acoustic_model(write(tmp_path, trained)).info
    assert info.features == features
    assert info.statistics is not None
    np.testing.assert_array_equal(info.statistics.mean, statistics.mean)


def converted(model: TrainedModel, steps: int, *, quantize: bool) -> bytes:
    """Return TensorFlow's conversion of a network with an unrolled LSTM, as this program's predecessors export it."""
    weights = model.weights
    window, units = model.network.window_width, model.network.recurrent_layers[0].units
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        windows = v1.placeholder(tf.float32, [1, steps, 19, 26], "input_node")
        c, h = (v1.placeholder(tf.float32, [1, units], f"previous_state_{part}") for part in "ch")
        inputs = [windows, c, h]
        values = tf.reshape(tf.transpose(windows, [1, 0, 2, 3]), [-1, window])

        def dense(values: Any, name: str) -> Any:
            return values @ weights[f"{name}/weights"] + weights[f"{name}/bias"]

        for name in ("layer_1", "layer_2", "layer_3"):
            values = tf.minimum(tf.nn.relu(dense(values, name)), 20.0)
        (scope,) = (layer.name for layer in model.network.recurrent_layers)
        hidden = []
        for row in tf.split(values, steps):
            gates = tf.concat([row, h], 1) @ weights[f"{scope}/kernel"] + weights[f"{scope}/bias"]
            entered, candidate, forgotten, shown = tf.split(gates, 4, 1)
            c = tf.sigmoid(forgotten) * c + tf.sigmoid(entered) * tf.tanh(candidate)
            h = tf.sigmoid(shown) * tf.tanh(c)
            hidden.append(h)
        values = tf.minimum(tf.nn.relu(dense(tf.concat(hidden, 0), "layer_5")), 20.0)
        outputs = [tf.nn.softmax(dense(values, "layer_6"), name="logits")]
        outputs += [tf.identity(c, "new_state_c"), tf.identity(h, "new_state_h")]
        told = {"version": 6, "sample_rate": 16_000, "feature_win_len": 32, "feature_win_step": 20, "beam_width": 77}
        outputs += [tf.constant([value], tf.int32, name=f"metadata_{name}") for name, value in told.items()]
        alphabet = b"\x06\x00" + b"".join(bytes([place, 0, 1, 0]) + b" abcde"[place : place + 1] for place in range(6))
        outputs.append(tf.constant([alphabet], name="metadata_alphabet"))
        converter = v1.lite.TFLiteConverter.from_session(session, inputs, outputs)
        converter.optimizations = [tf.lite.Optimize.DEFAULT] if quantize else []
        content: bytes = converter.convert()
    return content


@pytest.mark.parametrize("quantize", [False, True])
def test_what_tensorflow_converts_is_read(quantize: bool, tmp_path: Path) -> None:
    trained = trained_model(NETWORKS[0], scale=0.2)
    path = tmp_path / "converted.tflite"
    path.write_bytes(converted(trained, 4, quantize=quantize))
    loaded = load_acoustic_model(path)
    assert (loaded.info.beam_width, loaded.info.n_steps, loaded.info.network.context) == (77, 4, 9)
    windows = np.random.default_rng(7).normal(size=(10, 19 * 26)).astype(np.float32)
    expected = load_acoustic_model(write(tmp_path, trained)).engine.posteriors(windows)
    np.testing.assert_allclose(loaded.engine.posteriors(windows), expected, atol=0.05 if quantize else 1e-4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"no model of anything", "not a model of LiteRT"),
        (b"\x1c\0\0\0TFL3", "not a model of LiteRT"),
        (b"\x1c\0\0\0TFL3" + b"\xff" * 100, "not a model of LiteRT"),
    ],
)
def test_files_that_are_no_models_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    with pytest.raises(GraphError, match=message) as raised:
        Model(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


def test_damaged_files_are_errors_of_ours(tmp_path: Path) -> None:
    path = write(tmp_path, trained_model(NETWORKS[0]), n_steps=2)
    whole = path.read_bytes()
    generator = random.Random(5)
    refused = 0
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(generator.choice([1, 4, 16])):
            place = generator.randrange(len(damaged))
            damaged[place] = generator.choice([0, 1, 127, 255])
        path.write_bytes(damaged[: generator.choice([len(damaged), generator.randrange(len(damaged))])])
        try:
            load_acoustic_model(path)
        except DeepSpeechError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 20


def test_operators_that_no_speech_model_has_are_not_run(tmp_path: Path) -> None:
    from ai_edge_litert.schema_py_generated import BuiltinOperator

    path = write(tmp_path, trained_model(NETWORKS[0]), n_steps=2)
    content = bytearray(path.read_bytes())
    model = schema.Model.GetRootAs(content, 0)
    codes = [model.OperatorCodes(number) for number in range(model.OperatorCodesLength())]
    (tanh,) = (code for code in codes if code.BuiltinCode() == BuiltinOperator.TANH)
    for offset in (4, 10):  # the fields of the number, of which older readers know one
        place = tanh._tab.Offset(offset)
        content[tanh._tab.Pos + place] = BuiltinOperator.ELU
    path.write_bytes(content)
    with pytest.raises(GraphError, match="has the operator ELU, which networks of DeepSpeech do not have"):
        Model(path)


def test_without_litert_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = write(tmp_path, trained_model(NETWORKS[0]), n_steps=2)
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == "ai_edge_litert" else find_spec(name))
    with pytest.raises(GraphError, match=r"needs ai_edge_litert: .*\[litert\]' in a checkout or .*whl\[litert\]'"):
        Model(path)
