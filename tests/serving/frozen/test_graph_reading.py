"""Reading graphs of all layouts without TensorFlow, and refusing files that are not graphs."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from graph_files import GraphDef, definition_of, length_delimited, varint, write
from untrained import MODELS, untrained

from deepspeech import Model
from deepspeech.checkpoints.weights.model_weights import weights_of_graph
from deepspeech.cli.confidence.calibrate import main as calibrate
from deepspeech.errors import CheckpointError, DeepSpeechError, GraphError
from deepspeech.export.frozen_graph import serialized
from deepspeech.network import Dense, network
from deepspeech.network.deepspeech import LSTM_NAME
from deepspeech.options import ExportOptions, ModelOptions
from deepspeech.serving.frozen.metadata import (
    parse_alphabet,
    parse_features,
    serialize_alphabet,
    serialize_features,
)
from deepspeech.serving.frozen.model import read_frozen_model
from deepspeech.util.features import FeatureOptions
from deepspeech.util.frames.normalization import FeatureStatistics

v1 = tf.compat.v1
LSTM_BIAS = f"{LSTM_NAME}/bias"


def write_pbmm(path: Path, definition: GraphDef) -> Path:
    """Write a graph the way convert_graphdef_memmapped_format does: large constants in regions of their own."""
    data = b""
    elements: list[tuple[int, str, int]] = []
    for node in definition.node:
        value = node.attr["value"].tensor if node.op == "Const" else None
        if value is None or len(value.tensor_content) < 100:
            continue
        data += bytes(-len(data) % 64)
        name = f"memmapped_package://{len(elements)}"
        elements.append((len(data), name, len(value.tensor_content)))
        data += value.tensor_content
        shape = v1.AttrValue(shape=value.tensor_shape)
        node.op = "ImmutableConst"
        del node.attr["value"]
        node.attr["shape"].CopyFrom(shape)
        node.attr["memory_region_name"].s = name.encode()
    serialized = definition.SerializeToString()
    elements.append((len(data), "memmapped_package://.", len(serialized)))
    data += serialized
    directory = b"".join(
        length_delimited(1, varint(1, offset) + length_delimited(2, name.encode()) + varint(3, length))
        for offset, name, length in elements
    )
    path.write_bytes(data + directory + struct.pack("<Q", len(data)))
    return path


def test_weights_and_metadata_are_the_graphs(graph_file: Path) -> None:
    model = read_frozen_model(graph_file)
    by_name = {node.name: node for node in definition_of(graph_file).node}
    for name, value in model.weights.items():
        np.testing.assert_array_equal(value, tf.make_ndarray(by_name[name].attr["value"].tensor))
    info = model.info
    assert "".join(map(str, info.labels)) == " abcde"
    assert (info.beam_width, info.language, info.n_steps) == (32, "xx", 16)
    assert (info.features.sample_rate, info.features.window_ms, info.network.context) == (16_000, 32, 9)
    assert [layer.clip for layer in info.network.layers if isinstance(layer, Dense)] == [20.0] * 4 + [None]


def test_a_memory_mapped_graph_is_the_same_model(graph_file: Path, tmp_path: Path) -> None:
    path = write_pbmm(tmp_path / "model.pbmm", definition_of(graph_file))
    mapped, plain = read_frozen_model(path), read_frozen_model(graph_file)
    for name, value in plain.weights.items():
        np.testing.assert_array_equal(mapped.weights[name], value)
    noise = np.random.default_rng(0).normal(0, 3000, 8000).astype(np.int16)
    assert Model(path).stt(noise) == Model(graph_file).stt(noise)


def test_a_memory_mapped_graph_is_not_calibrated_and_that_is_told_before_the_recordings_are_heard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tmp_path / "model.pb"
    plain.write_bytes(serialized(untrained(*MODELS["deepspeech"]), ExportOptions()))
    path = write_pbmm(tmp_path / "model.pbmm", definition_of(plain))
    assert calibrate([f"--model={path}", f"--dev_files={tmp_path / 'none.csv'}"]) == 1
    assert f"{path}: is memory-mapped, so that nothing can be added to it" in capsys.readouterr().err


def test_names_and_forget_bias_of_the_first_generation_are_understood(graph_file: Path, tmp_path: Path) -> None:
    definition = definition_of(graph_file)
    older_names = {variable.name: variable.older_name for variable in network(ModelOptions(), 26, 5).variables}
    for node in definition.node:
        node.name = older_names.get(node.name, node.name)
        for index, name in enumerate(node.input):
            node.input[index] = older_names.get(name, name)
        if node.op == "BlockLSTM":
            node.attr["forget_bias"].f = 1.0
    model = read_frozen_model(write(tmp_path / "seed.pb", definition))
    added = model.weights[LSTM_BIAS] - read_frozen_model(graph_file).weights[LSTM_BIAS]
    np.testing.assert_allclose(added, np.repeat([0, 0, 1, 0], 48), atol=1e-6)


def test_an_alphabet_survives_its_serialization() -> None:
    assert parse_alphabet(serialize_alphabet([" ", "ä", b"\xff"])) == (b" ", "ä".encode(), b"\xff")
    for wrong in (b"", b"\1\0", b"\1\0\0\0\5\0a", b"\0\0", b"\1\0\1\0\1\0a", serialize_alphabet("ab") + b"x"):
        with pytest.raises(GraphError):
            parse_alphabet(wrong)


def without(name: str, definition: GraphDef) -> GraphDef:
    return v1.GraphDef(node=[node for node in definition.node if node.name != name])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("input_node", "input_node"),
        ("logits", "logits"),
        ("layer_5/weights", "layer_5/weights"),
        ("metadata_alphabet", "alphabet"),
        ("metadata_version", "version"),
    ],
)
def test_a_graph_without_a_needed_node_is_refused(graph_file: Path, tmp_path: Path, name: str, words: str) -> None:
    path = write(tmp_path / "less.pb", without(name, definition_of(graph_file)))
    with pytest.raises(GraphError, match=words) as caught:
        Model(path)
    assert "less.pb" in str(caught.value) and "\n" not in str(caught.value)


def test_weights_of_a_graph_without_its_input_are_refused(graph_file: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "less.pb", without("input_node", definition_of(graph_file)))
    with pytest.raises(CheckpointError, match=r"^a graph: it has no node input_node"):
        weights_of_graph(path, "a graph")


def test_a_graph_of_another_version_or_alphabet_is_refused(graph_file: Path, tmp_path: Path) -> None:
    for name, tensor, words in (
        ("metadata_version", tf.make_tensor_proto([7], tf.int32), "version 7"),
        ("metadata_alphabet", tf.make_tensor_proto([serialize_alphabet("abc")]), "3 labels"),
        ("metadata_alphabet", tf.make_tensor_proto([serialize_alphabet("abcdee")]), "other.pb: .* are both 'e'"),
        ("metadata_alphabet", tf.make_tensor_proto([serialize_alphabet("abcde\0")]), "other.pb: label 5 has a NUL"),
    ):
        definition = definition_of(graph_file)
        (node,) = (node for node in definition.node if node.name == name)
        node.attr["value"].tensor.CopyFrom(tensor)
        with pytest.raises(GraphError, match=words):
            Model(write(tmp_path / "other.pb", definition))


@pytest.mark.parametrize("sizes", [[1 << 40], [1 << 31, 1 << 33], [-1], [3, 5]])
def test_a_constant_of_an_impossible_shape_is_refused(graph_file: Path, tmp_path: Path, sizes: list[int]) -> None:
    for name in ("layer_2/bias", "metadata_beam_width"):
        definition = definition_of(graph_file)
        (node,) = (node for node in definition.node if node.name == name)
        shape = node.attr["value"].tensor.tensor_shape
        del shape.dim[:]
        for size in sizes:
            shape.dim.add(size=size)
        with pytest.raises(GraphError):
            Model(write(tmp_path / "shape.pb", definition))


def test_what_is_no_graph_is_refused(graph_file: Path, tmp_path: Path) -> None:
    whole = graph_file.read_bytes()
    for number, data in enumerate((b"", b"RIFF....WAVEfmt ", b"\0" * 1000, whole[:50_000], whole[:-1], whole[3:])):
        path = tmp_path / f"{number}.pb"
        path.write_bytes(data)
        with pytest.raises(GraphError, match=path.name):
            Model(path)
    with pytest.raises(GraphError, match="missing"):
        Model(tmp_path / "missing.pb")
    with pytest.raises(GraphError):
        Model(tmp_path)


def test_damage_anywhere_is_an_error_of_ours_or_none(graph_file: Path, tmp_path: Path) -> None:
    whole = graph_file.read_bytes()
    random = np.random.default_rng(4)
    path = tmp_path / "damaged.pb"
    for _ in range(150):
        damaged = bytearray(whole)
        # The weights take most of the file; also damage the data between them.
        for place in random.integers(0, len(whole), 3).tolist() + random.integers(0, 2000, 1).tolist():
            damaged[place] = int(random.integers(256))
        path.write_bytes(damaged)
        try:
            read_frozen_model(path)
        except DeepSpeechError as error:
            assert path.name in str(error)


def test_features_in_a_graph_survive_and_anything_else_is_refused() -> None:
    options = FeatureOptions(
        feature_type="fbank", coefficients=3, normalization="running", stack_frames=2, skip_frames=1
    )
    statistics = FeatureStatistics(np.array([0.1, -8, 3], np.float32), np.array([1, 0.25, 3.3], np.float32))
    read, of_read = parse_features(serialize_features(options, statistics))
    assert read == options and of_read is not None
    np.testing.assert_array_equal([of_read.mean, of_read.deviation], [statistics.mean, statistics.deviation])
    assert parse_features(serialize_features(FeatureOptions(), None)) == (FeatureOptions(), None)
    told = json.loads(serialize_features(options, statistics))
    sizes: list[Any] = [0, -1, 1 << 40, 2.5, "25", None, []]
    statistics_of_others: list[Any] = [
        *(None, {}, {"mean": [0, 0, 0]}, {"mean": 1, "deviation": 1}),
        *(
            {"mean": [0] * 3, "deviation": deviation}
            for deviation in ([0] * 3, [1, 1], [1, 1, float("nan")], [1, 1, 10**400])
        ),
    ]
    other_options: list[Any] = [[], {"hop": 3}, {"feature_type": "mel", "sample_rate": 16_000}]
    changes: list[dict[str, Any]] = [
        *({"options": {**told["options"], "window_ms": size}} for size in sizes),
        *({"options": others} for others in other_options),
        *({"statistics": of_others} for of_others in statistics_of_others),
    ]
    for change in changes:
        with pytest.raises(GraphError, match="features"):
            parse_features(json.dumps({**told, **change}).encode())
    for wrong in (b"", b"[]", b"{}", b"\xff", b"[" * 100_000):
        with pytest.raises(GraphError, match="features"):
            parse_features(wrong)
