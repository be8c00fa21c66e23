"""Graphs that are made to break their reader: they raise our error, soon, and in little memory."""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from graph_files import Edit, GraphDef, definition_of, edited, length_delimited, repeated, value, varint, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepspeech import Model
from deepspeech.errors import GraphError
from deepspeech.network.deepspeech import LSTM_NAME

LSTM = LSTM_NAME.replace("/", "__")
ALLOWED_BYTES = 200 << 20
ALLOWED_SECONDS = (
    40.0  # of processor time, while each allocation is traced: it takes 3, and hours where it is quadratic
)


@contextmanager
def within_bounds() -> Iterator[None]:
    """Fail if the block takes more memory or time than the reading of a small file may take."""
    tracemalloc.start()
    start = time.thread_time()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < ALLOWED_BYTES
    assert time.thread_time() - start < ALLOWED_SECONDS


def small(definition: GraphDef) -> GraphDef:
    """Return a graph whose weights are each written as one number."""
    for node in definition.node:
        tensor = node.attr["value"].tensor
        if node.op == "Const" and len(tensor.tensor_content) > 100:
            repeated(0.01, [dim.size for dim in tensor.tensor_shape.dim])(node)
    return definition


def test_weights_that_are_written_as_one_number_are_read(graph_file: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "small.pb", small(definition_of(graph_file)))
    assert path.stat().st_size < graph_file.stat().st_size / 8
    assert isinstance(Model(path).stt(np.zeros(1600, np.int16)), str)


def enormous(units: int) -> dict[str, Edit]:
    """Return edits that declare a network with this number of units."""
    weights = {f"layer_{number}__weights": repeated(0, [units, units]) for number in (2, 3, 5)}
    biases = {f"layer_{number}__bias": repeated(0, [units]) for number in (1, 2, 3, 5)}
    of_lstm = {f"{LSTM}__kernel": repeated(0, [2 * units, 4 * units]), f"{LSTM}__bias": repeated(0, [4 * units])}
    ends = {"layer_1__weights": repeated(0, [494, units]), "layer_6__weights": repeated(0, [units, 7])}
    return {**weights, **biases, **of_lstm, **ends}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    ("edits", "words"),
    [
        (enormous(8000), "cannot hold"),
        (enormous(0), "no units"),
        ({"layer_2__bias": value(0.5, tf.float32)}, "do not fit together"),
        ({f"{LSTM}__bias": value(0.5, tf.float32)}, "no units"),
        ({"layer_2__bias": repeated(float("nan"), [48])}, "layer_2/bias hold numbers that are not finite"),
        ({"layer_2__bias": value([np.inf, -np.inf] * 24)}, "layer_2/bias hold numbers that are not finite"),
        ({"metadata_feature_win_len": value([300_000], tf.int32)}, "windows of 300000 ms"),
        ({"metadata_feature_win_step": value([64], tf.int32)}, "every 64 ms"),
        ({"metadata_sample_rate": value([1], tf.int32)}, "at 1 Hz|sample rate is 1 Hz"),
        ({"metadata_sample_rate": value([2_000_000_000], tf.int32)}, "sample rate is 2000000000 Hz"),
        ({"metadata_beam_width": value([1 << 20], tf.int32)}, "metadata_beam_width is 1048576"),
        ({"metadata_beam_width": value([0], tf.int32)}, "metadata_beam_width is 0"),
        ({"metadata_n_steps": value([1 << 30], tf.int32)}, "metadata_n_steps is"),
    ],
)
def test_sizes_that_no_model_has_are_refused(
    graph_file: Path, tmp_path: Path, edits: dict[str, Edit], words: str
) -> None:
    definition = small(definition_of(graph_file))
    if not any(node.name == "metadata_n_steps" for node in definition.node):
        definition.node.add(name="metadata_n_steps", op="Const")
    path = write(tmp_path / "hostile.pb", edited(definition, **{"metadata_n_steps": value([16], tf.int32), **edits}))
    with within_bounds(), pytest.raises(GraphError, match=words) as caught:
        Model(path)
    assert "hostile.pb" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * (8 << 20),  # fields of number 0
        varint(3, 5) * (4 << 20),
        length_delimited(1, b"") * (4 << 20),
        length_delimited(1, varint(9, 0) * (4 << 20)),
        length_delimited(1, length_delimited(3, b"") * (4 << 20)),
    ],
)
def test_a_large_file_of_tiny_fields_is_refused_soon(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "tiny.pb").write_bytes(data)
    with within_bounds(), pytest.raises(GraphError, match="tiny"):
        Model(tmp_path / "tiny.pb")


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pb")
    for path in (tmp_path / "pipe.pb", tmp_path, Path("/dev/zero"), "nul\0.pb", "x" * 5000):
        with pytest.raises(GraphError):
            Model(path)


NUMBERS = st.sampled_from([0, 1, 2, 3, 7, 48, 494, 1 << 16, 1 << 20, (1 << 31) - 1, -1])


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    """Draw a change of a node: of the shape, the numbers, the type or the text of a constant, or of its operation."""
    kind = draw(st.sampled_from(["shape", "number", "type", "text", "op", "placeholder"]))
    numbers = draw(st.lists(NUMBERS, max_size=4))
    text = draw(st.binary(max_size=20))

    def edit(node: Any) -> None:
        tensor = node.attr["value"].tensor
        if kind == "shape":
            del tensor.tensor_shape.dim[:]
            for size in numbers:
                tensor.tensor_shape.dim.add(size=size)
        elif kind == "number":
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(numbers or [0], tf.int32))
        elif kind == "type":
            tensor.dtype = numbers[0] & 15 if numbers else 1
        elif kind == "text":
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto([text]))
        elif kind == "op":
            node.op = "Placeholder"
        else:
            node.attr["shape"].shape.CopyFrom(tf.TensorShape([abs(number) for number in numbers]).as_proto())

    return edit


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_graph_is_a_model_or_a_graph_error(graph_file: Path, tmp_path: Path, data: st.DataObject) -> None:
    definition = small(definition_of(graph_file))
    names = [node.name for node in definition.node if node.op == "Const" or node.name == "input_node"]
    chosen = data.draw(st.lists(st.sampled_from(sorted(names)), min_size=1, max_size=3, unique=True))
    for name in chosen:
        edited(definition, **{name: data.draw(edits())})
    path = write(tmp_path / "changed.pb", definition)
    with within_bounds():
        try:
            model = Model(path)
        except GraphError as error:
            assert "changed.pb" in str(error)
        else:
            assert isinstance(model.stt(np.zeros(800, np.int16)), str)
