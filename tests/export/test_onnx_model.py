"""`Model` with ONNX files: this program's, damaged ones and those of other programs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from untrained import FBANK, signal, untrained

from deepspeech import Model
from deepspeech.errors import DeepSpeechError, GraphError, ModelError
from deepspeech.export.formats import FORMATS
from deepspeech.options import ExportOptions


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model with all parts: features, convolutions and LSTMs; tests must not change it."""
    path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    trained = untrained({"network": "lstm", "lstm_layers": 1}, FBANK)
    path.write_bytes(FORMATS["onnx"].serialized(trained, ExportOptions(features=True)))
    return path


def test_its_streams_scorers_and_metadata_are_those_of_a_model(file: Path, scorer_file: Path) -> None:
    model = Model(file)
    samples = (signal(24_000) * 32_768).astype(np.int16)
    assert (model.sampleRate(), model.beamWidth(), model.step_seconds) == (16_000, 500, 0.04)
    text = model.stt(samples)
    assert text
    assert next(model.transcribe_many([samples, samples[:16_000]])).text == text
    stream = model.createStream()
    for start in range(0, len(samples), 1000):
        stream.feedAudioContent(samples[start : start + 1000])
    assert stream.intermediateDecode()
    assert stream.finishStream() == text
    found = model.sttWithMetadata(samples, 3)
    assert len(found.transcripts) == 3
    assert "".join(token.text for token in found.transcripts[0].tokens) == text
    model.enableExternalScorer(scorer_file)
    assert set(model.stt(samples).split()) != set(text.split())
    with pytest.raises(ModelError, match="precision 'int8' is for graphs"):
        Model(file, "int8")


def with_node(operator: str, **attributes: Any) -> Callable[[Any], None]:
    return lambda model: model.graph.node.append(helper.make_node(operator, ["samples"], ["more"], **attributes))


def with_property(name: str, value: str) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        told = {each.key: each.value for each in model.metadata_props}
        del model.metadata_props[:]
        helper.set_model_props(model, {**told, name: value})

    return change


def external(model: Any) -> None:
    tensor = model.graph.initializer[0]
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "/etc/hostname"


def diverged(model: Any) -> None:
    tensor = next(each for each in model.graph.initializer if each.data_type == TensorProto.FLOAT)
    tensor.raw_data = tensor.raw_data[:-8] + np.array([np.inf, -np.inf], np.float32).tobytes()


CHANGES: dict[str, Callable[[Any], None]] = {
    "has an operator 'Loop'": with_node("Loop"),
    "not of ONNX itself": with_node("Add", domain="com.example"),
    "has weights in other files": external,
    "holds numbers that are not finite": diverged,
    "its network is not described in JSON": with_property("network", "[[[["),
    "its features are not described in JSON": with_property("features", "{}"),
    "its property alphabet is damaged": with_property("alphabet", "ä"),
    "its alphabet is truncated": with_property("alphabet", ""),
    "its property shift is '-3'": with_property("shift", "-3"),
    "takes 'pictures'": with_property("input", "pictures"),
    "other inputs or outputs than a model of its kind": with_property("input", "frames"),
    "cannot be run by onnxruntime": lambda model: model.graph.node.pop(3) and None,
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("reason", CHANGES)
def test_a_file_that_was_tampered_with_is_refused_in_one_line(reason: str, file: Path, tmp_path: Path) -> None:
    model = onnx.load(file)
    CHANGES[reason](model)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    check_refused(path, reason)


def test_running_it_leaves_no_record_of_the_user(file: Path, tmp_path: Path) -> None:
    kept = {
        name: value for name, value in os.environ.items() if name not in ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME")
    }
    command = [sys.executable, "-c", "import sys; from deepspeech import Model; Model(sys.argv[1])", str(file)]
    subprocess.run(command, env={**kept, "HOME": str(tmp_path)}, check=True)
    assert not list(tmp_path.rglob("*"))


def test_a_file_that_onnxruntime_cannot_name_the_fault_of_prints_nothing(
    file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(file.read_bytes().replace(b"features/filters", b"\xff" + b"eatures/filters", 1))
    check_refused(path, "cannot be run by onnxruntime")
    assert capfd.readouterr() == ("", "")


def test_a_run_that_fails_without_a_word_is_told_by_its_kind(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise NotImplementedError

    model = Model(file)
    monkeypatch.setattr(model._engine, "_session", SimpleNamespace(run=fail))
    with pytest.raises(ModelError, match="cannot be run by onnxruntime: NotImplementedError"):
        model.posteriors(signal(8000))


def test_a_file_whose_dimensions_have_damaged_names_is_refused_in_one_line(file: Path, tmp_path: Path) -> None:
    path, content = tmp_path / "model.onnx", file.read_bytes()
    assert content.count(b"\x04rows") == 1
    path.write_bytes(content.replace(b"\x04rows", b"\x04ro\xffs"))
    check_refused(path, "has names that are not UTF-8")


def test_other_files_are_refused_in_one_line(file: Path, tmp_path: Path) -> None:
    content = file.read_bytes()
    path = tmp_path / "model.ONNX"
    check_refused(path, "No such file")
    path.mkdir()
    check_refused(path, "is a folder without a model")
    path = tmp_path / "other.onnx"
    foreign = helper.make_model(helper.make_graph([helper.make_node("Identity", ["a"], ["b"])], "g", [], []))
    for other in (b"", b"a text, and no model", content[:-1000], content[: len(content) // 2], bytes(1000)):
        path.write_bytes(other)
        check_refused(path, "")
    path.write_bytes(foreign.SerializeToString())
    check_refused(path, "is not a speech model of this program")
    generator = np.random.default_rng(7)
    for place in generator.integers(0, len(content), 20):
        path.write_bytes(content[:place] + bytes(generator.integers(0, 256, 4, np.uint8)) + content[place + 4 :])
        try:
            Model(path).stt((signal(4000) * 32_768).astype(np.int16))
        except DeepSpeechError as error:
            assert "\n" not in str(error)


def check_refused(path: Path, reason: str) -> None:
    with pytest.raises(GraphError) as raised:
        Model(path)
    message = str(raised.value)
    assert message.startswith(f"{path}: ") and reason in message and "\n" not in message
