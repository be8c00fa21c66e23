"""Models for LiteRT: the contents of the files, and that LiteRT computes the same as the exported graph."""

from __future__ import annotations

from pathlib import Path

import flatbuffers
import numpy as np
import pytest
from dense_models import ALPHABET, NETWORKS, trained_model
from graph_running import run_graph, windows_of
from tensorflow.lite.python import schema_py_generated as schema
from tflite_models import Interpreter

from deepspeech.cli import flags
from deepspeech.errors import ExportError, FlagError
from deepspeech.export.formats import FORMATS
from deepspeech.export.frozen_graph import frozen_graph
from deepspeech.export.tflite_file import TFLiteFile
from deepspeech.network import Network, network
from deepspeech.options import ExportOptions, ModelOptions
from deepspeech.serving.frozen.metadata import parse_alphabet
from deepspeech.serving.frozen.model import read_frozen_model
from deepspeech.util.audio import read_audio

READ_BY_CLIENTS = ("version", "sample_rate", "feature_win_len", "feature_win_step", "beam_width", "alphabet")


@pytest.mark.parametrize("described", NETWORKS, ids=lambda each: each.name)
def test_its_outputs_are_those_of_the_graph(described: Network, tmp_path: Path) -> None:
    model = trained_model(described)
    graph = frozen_graph(model, ExportOptions())
    (tmp_path / "graph.pb").write_bytes(graph.SerializeToString())
    windows = np.random.default_rng(5).normal(size=(37, described.window_width)).astype(np.float32)
    expected = run_graph(tmp_path / "graph.pb", windows)
    found = Interpreter(FORMATS["tflite"].serialized(model, ExportOptions())).posteriors(windows)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    rounded = Interpreter(FORMATS["tflite"].serialized(model, ExportOptions(quantize=True))).posteriors(windows)
    assert 0 < np.abs(rounded - expected).max() < 0.1


def test_it_holds_what_clients_need_where_they_look_for_it() -> None:
    content = FORMATS["tflite"].serialized(trained_model(NETWORKS[0]), ExportOptions(language="xx", beam_width=32))
    graph = schema.ModelT.InitFromPackedBuf(bytearray(content), 0).subgraphs[0]
    made = [graph.tensors[operator.outputs[0]].name.decode() for operator in graph.operators]
    assert made[-len(READ_BY_CLIENTS) :] == [f"metadata_{name}" for name in READ_BY_CLIENTS]
    assert not [name for name in made[: -len(READ_BY_CLIENTS)] if name.startswith("metadata")]
    outputs = Interpreter(content).run()
    told = {name.removeprefix("metadata_"): value for name, value in outputs.items() if name.startswith("metadata")}
    numbers = {name: value.tolist() for name, value in told.items() if value.dtype == np.int32}
    expected = {"version": 6, "sample_rate": 16000, "feature_win_len": 32, "feature_win_step": 20, "beam_width": 32}
    assert numbers == {name: [value] for name, value in expected.items()}
    assert parse_alphabet(told["alphabet"][0]) == tuple(label.encode() for label in ALPHABET.labels)
    assert told["language"][0] == b"xx"
    assert outputs["mfccs"].shape == (1, 26)
    assert outputs["logits"].shape == (16, 7)


def test_weights_of_inner_layers_alone_become_integers_of_8_bits() -> None:
    model = trained_model(NETWORKS[0])
    sizes = {}
    for quantize in (False, True):
        content = FORMATS["tflite"].serialized(model, ExportOptions(quantize=quantize))
        graph = schema.ModelT.InitFromPackedBuf(bytearray(content), 0)
        int8 = [each for each in graph.subgraphs[0].tensors if each.type == schema.TensorType.INT8]
        sizes[quantize] = sum(np.prod(each.shape) for each in int8)
        assert max(code.version for code in graph.operatorCodes) <= 3
    assert sizes == {False: 0, True: 2 * 12 * 12 + 24 * 48 + 12 * 12}


def test_a_file_may_fill_almost_all_that_the_format_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    file, weights = TFLiteFile(), np.ones(1 << 20, np.float32)
    file.constant("weights", weights)
    monkeypatch.setattr(flatbuffers.Builder, "MAX_BUFFER_SIZE", weights.nbytes + (1 << 16))
    assert weights.tobytes() in file.serialized("deepspeech")


def test_networks_that_are_not_in_the_format_are_refused() -> None:
    lstm = network(ModelOptions(network="lstm", n_hidden=8), 80, ALPHABET.size, 10)
    with pytest.raises(ExportError, match=r"cannot be exported as TFLite: its layer \S+ is a Convolution"):
        FORMATS["tflite"].check(lstm)


def test_batches_are_refused_with_the_flags() -> None:
    with pytest.raises(FlagError, match="--export_batch_size: a run of --export_format=tflite takes one utterance"):
        flags.parse(["--export_dir=model", "--export_format=tflite", "--export_batch_size=2"])


def test_weights_of_8_bits_are_refused_in_other_formats() -> None:
    with pytest.raises(FlagError, match="--export_quantize: only the format tflite"):
        flags.parse(["--export_dir=model", "--export_quantize"])


def test_what_is_trained_is_exported_and_says_the_same(
    tflite_file: Path, graph_file: Path, recordings: list[Path]
) -> None:
    interpreter, info = Interpreter(tflite_file.read_bytes()), read_frozen_model(graph_file).info
    for recording in recordings:
        windows = windows_of(read_audio(recording, 16_000), info)
        np.testing.assert_allclose(interpreter.posteriors(windows), run_graph(graph_file, windows), atol=1e-4)


def test_its_features_are_those_of_the_graph(tflite_file: Path, graph_file: Path, recordings: list[Path]) -> None:
    samples = read_audio(recordings[0], 16_000)[:512]
    middle = windows_of(samples, read_frozen_model(graph_file).info)[0].reshape(19, 26)[9]
    found = Interpreter(tflite_file.read_bytes()).run(input_samples=samples)["mfccs"]
    np.testing.assert_allclose(found[0], middle, atol=1e-3)
