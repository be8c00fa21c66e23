"""Models in ONNX, run by onnxruntime."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from dense_models import ALPHABET, NETWORKS, trained_model
from graph_running import run_graph, windows_of
from program import Trained

from deepspeech import Model
from deepspeech.decoder.of_alphabet import make_decoder
from deepspeech.errors import ExportError
from deepspeech.export.formats import FORMATS, TrainedModel
from deepspeech.export.frozen_graph import frozen_graph
from deepspeech.network import ContextWindow, Dense, Network, network
from deepspeech.options import ExportOptions, LanguageModelOptions, ModelOptions
from deepspeech.serving.frozen.model import read_frozen_model
from deepspeech.util.audio import read_audio
from deepspeech.util.features import FeatureOptions
from deepspeech.util.frames.normalization import FeatureStatistics
from deepspeech.util.text import Alphabet

Array = npt.NDArray[np.float32]

OLD_OPERATORS = {
    *("Add", "Clip", "Concat", "LSTM", "MatMul", "Reshape", "Softmax", "Split", "Squeeze", "Transpose", "Unsqueeze")
}


def session_of(content: bytes) -> Any:
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


def run(session: Any, frames: Array, lengths: list[int], state: list[Array] | None = None) -> list[Array]:
    """Return logits, new cell and hidden state for frames [batch, steps, window, coefficients]."""
    (units,) = {each.shape[1] for each in session.get_inputs() if each.name.startswith("previous")}
    cell, hidden = state or [np.zeros((len(frames), units), np.float32)] * 2
    feed = {"input_node": frames, "input_lengths": np.array(lengths, np.int32)}
    feed |= {"previous_state_c": cell, "previous_state_h": hidden}
    outputs: list[Array] = session.run(["logits", "new_state_c", "new_state_h"], feed)
    return outputs


@pytest.mark.parametrize("described", NETWORKS, ids=lambda each: each.name)
def test_its_outputs_are_those_of_the_graph(described: Network, tmp_path: Path) -> None:
    model = trained_model(described)
    session = session_of(FORMATS["onnx"].serialized(model, ExportOptions()))
    graph = frozen_graph(model, ExportOptions())
    (tmp_path / "graph.pb").write_bytes(graph.SerializeToString())
    windows = np.random.default_rng(5).normal(size=(37, described.window_width)).astype(np.float32)
    expected = run_graph(tmp_path / "graph.pb", windows)
    frames = windows.reshape(1, 37, -1, described.coefficients)
    whole, *last = run(session, frames, [37])
    np.testing.assert_allclose(whole[:, 0], expected, atol=1e-5)
    parts, state = [], None
    for start in range(0, 37, 10):
        part = frames[:, start : start + 10]
        logits, *state = run(session, part, [part.shape[1]], state)
        parts.append(logits)
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-5)
    for one, other in zip(state or (), last, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_utterances_of_a_batch_end_where_their_lengths_say() -> None:
    model = trained_model(NETWORKS[0])
    session = session_of(FORMATS["onnx"].serialized(model, ExportOptions()))
    frames = np.random.default_rng(6).normal(size=(3, 9, 19, 26)).astype(np.float32)
    lengths = [9, 4, 1]
    logits, *state = run(session, frames, lengths)
    assert logits.shape == (9, 3, 7)
    for index, length in enumerate(lengths):
        alone, *last = run(session, frames[index : index + 1, :length], [length])
        np.testing.assert_allclose(logits[:length, index], alone[:, 0], atol=1e-6)
        for one, other in zip(state, last, strict=True):
            np.testing.assert_allclose(one[index], other[0], atol=1e-6)


def test_its_operators_are_old_and_its_properties_say_what_clients_need() -> None:
    described = network(ModelOptions(n_hidden=12), 160, ALPHABET.size)
    features = FeatureOptions(feature_type="fbank", normalization="running", stack_frames=2)
    statistics = FeatureStatistics(np.arange(80, dtype=np.float32), np.ones(80, np.float32))
    weights = trained_model(described).weights
    options = ExportOptions(language="xx", beam_width=32, version=3)
    content = FORMATS["onnx"].serialized(
        TrainedModel(described, weights, Alphabet(("ä", " ")), features, statistics), options
    )
    model = onnx.load_from_string(content)
    assert {node.op_type for node in model.graph.node} <= OLD_OPERATORS
    assert (model.ir_version, [each.version for each in model.opset_import]) == (6, [11])
    told = {each.key: each.value for each in model.metadata_props}
    assert json.loads(told["labels"]) == ["ä", " "]
    assert (told["sample_rate"], told["language"], told["beam_width"], told["version"]) == ("16000", "xx", "32", "3")
    described_features = json.loads(told["features"])
    assert described_features["options"] == features.to_json()
    assert described_features["statistics"]["mean"] == list(range(80))
    assert json.loads(told["network"]) == {"name": "deepspeech", "layers": described.to_json()}


def test_what_is_trained_is_exported_and_says_the_same(
    trained: Trained, model: Model, graph_file: Path, recordings: list[Path], tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    finished = trained.program.run(*trained.program.model(), f"--export_dir={folder}", "--export_format=onnx")
    assert finished.code == 0, finished.stderr
    assert {path.name for path in folder.iterdir()} == {"model.onnx", "model.md"}
    session = session_of((folder / "model.onnx").read_bytes())
    info = read_frozen_model(graph_file).info
    decoder = make_decoder(ALPHABET, LanguageModelOptions(beam_width=16))
    for recording in recordings:
        samples = read_audio(recording, 16_000)
        windows = windows_of(samples, info)
        logits, *_ = run(session, windows.reshape(1, len(windows), 19, 26), [len(windows)])
        np.testing.assert_allclose(logits[:, 0], run_graph(graph_file, windows), atol=1e-4)
        text = decoder.decode(np.ascontiguousarray(logits[:, 0]))[0].text
        assert text == model.stt((samples * 32768).round().astype(np.int16))


def test_networks_that_are_not_in_the_format_are_refused() -> None:
    late = Network("late", 26, (Dense("first", units=7), ContextWindow("context", frames=2), Dense("labels", units=7)))
    with pytest.raises(ExportError, match="its layer context is a context window after other layers"):
        FORMATS["onnx"].check(late)
    without = Network("flat", 26, (ContextWindow("context", frames=2), Dense("labels", units=7)))
    with pytest.raises(ExportError, match="no LSTM"):
        FORMATS["onnx"].check(without)
