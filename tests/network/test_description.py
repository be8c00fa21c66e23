"""The properties that are derived from the records of a network."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.errors import NetworkError
from deepspeech.network import (
    LSTM,
    BidirectionalLSTM,
    ChunkedLSTM,
    ContextWindow,
    Convolution,
    ConvolutionModule,
    Dense,
    FeedForward,
    IntermediateCTC,
    Layer,
    LayerNormalization,
    Network,
    Projection,
    SelfAttention,
    network,
    register,
)
from deepspeech.network.serialization import difference, network_from_json
from deepspeech.options import ModelOptions, with_values

DEEPSPEECH = network(ModelOptions(n_hidden=16), 26, 28)

names = st.text(min_size=1, max_size=20)
sizes = st.integers(1, 5000)
layers_of_deepspeech = st.one_of(
    st.builds(ContextWindow, names, frames=st.integers(0, 20)),
    st.builds(Dense, names, units=sizes, clip=st.none() | st.floats(0.5, 100), dropout=st.floats(0, 0.9)),
    st.builds(LSTM, names, units=sizes, input_dropout=st.floats(0, 0.9)),
)
layers = st.one_of(
    layers_of_deepspeech,
    st.builds(BidirectionalLSTM, names, units=sizes),
    st.builds(ChunkedLSTM, names, sizes, chunk=st.integers(10, 100), offset=st.integers(0, 9)),
    st.builds(Projection, names, units=sizes),
    st.builds(LayerNormalization, names, dropout=st.floats(0, 0.9)),
    st.builds(FeedForward, names, units=sizes),
    st.builds(ConvolutionModule, names, before=st.integers(0, 20), after=st.integers(0, 20)),
    st.builds(Convolution, names, channels=sizes, time=st.integers(3, 5), time_stride=st.integers(1, 3)),
)


def networks_of(layers: st.SearchStrategy[Layer]) -> st.SearchStrategy[Network]:
    return st.lists(layers, max_size=6, unique_by=lambda layer: layer.name).map(
        lambda some: Network("some", 26, (*some, Dense("the last layer of all", units=29)))
    )


@given(networks_of(layers))
def test_a_network_comes_back_from_its_json(some: Network) -> None:
    back = network_from_json("some", 26, json.loads(json.dumps(some.to_json())))
    assert back.shapes == some.shapes
    assert back.to_json() == some.to_json()
    assert difference(back.to_json(), some.to_json()) is None


@given(networks_of(layers_of_deepspeech))
def test_the_sizes_of_deepspeechs_layers_follow_from_the_shapes_of_its_variables(some: Network) -> None:
    smallest = Network("some", 26, tuple(_of_one_unit(layer) for layer in some.layers))
    assert smallest.resized(some.shapes).shapes == some.shapes


def _of_one_unit(layer: Layer) -> Layer:
    if isinstance(layer, Dense):
        return Dense(layer.name, 1, layer.clip)
    return replace(layer, units=1) if isinstance(layer, LSTM) else layer


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        [1],
        [{}],
        [{"layer": "Attention", "name": "a"}],
        [{"layer": "Dense", "name": "a", "units": 4}],
        [{"layer": "Dense", "name": "a", "units": 4, "clip": None, "more": 1}],
        [{"layer": "Dense", "name": "a", "units": "4", "clip": None}],
        [{"layer": "Dense", "name": "a", "units": 0, "clip": None}],
        [{"layer": "Dense", "name": "a", "units": 1 << 40, "clip": None}],
        [{"layer": "Dense", "name": "a", "units": 10**400, "clip": None}],
        [{"layer": "Dense", "name": "a", "units": True, "clip": None}],
        [{"layer": "Dense", "name": "", "units": 4, "clip": None}],
        [{"layer": "Dense", "name": "a", "units": 4, "clip": float("nan")}],
        [{"layer": "Dense", "name": "a", "units": 4, "clip": float("inf")}],
        [{"layer": "LSTM", "name": "a", "units": 4}],
        [{"layer": "IntermediateCTC", "name": "a"}],
        [Convolution("a", channels=4, time_stride=0).to_json()],
        [Convolution("a", channels=4, time=2, time_stride=3).to_json()],
        [Convolution("a", channels=4, input_channels=3).to_json()],
        [ChunkedLSTM("a", units=4, chunk=0).to_json()],
        [ChunkedLSTM("a", units=4, chunk=3, offset=3).to_json()],
        [SelfAttention("a", heads=0).to_json()],
        [SelfAttention("a", heads=4).to_json()],
        [],
    ],
)
def test_what_is_not_a_network_is_refused(value: Any) -> None:
    with pytest.raises(NetworkError):
        network_from_json("some", 26, value)


def test_layers_make_a_network_only_with_names_of_their_own_and_logits_at_the_end() -> None:
    with pytest.raises(NetworkError, match="same name"):
        Network("twins", 26, (Dense("a", 4, clip=1.0), Dense("a", 4)))
    with pytest.raises(NetworkError, match="two layers have the variable a/inner/weights"):
        Network("inside", 26, (FeedForward("a", 26), Dense("a/inner", 26, clip=1.0), Dense("b", 4)))
    with pytest.raises(NetworkError, match="last layer"):
        Network("clipped", 26, (Dense("a", 4, clip=1.0),))
    with pytest.raises(NetworkError, match="already"):
        register("deepspeech")


def test_the_last_layers_are_those_that_have_weights() -> None:
    assert [layer.name.partition("/")[0] for layer in DEEPSPEECH.last_layers(3)] == ["layer_6", "layer_5", "cudnn_lstm"]
    assert len(DEEPSPEECH.last_layers(100)) == 6


def test_a_difference_names_the_layer_and_both_settings() -> None:
    wider = network(ModelOptions(n_hidden=17), 26, 28)
    assert difference(wider.to_json(), DEEPSPEECH.to_json()) == (
        "it has Dense(name=layer_1, units=17, clip=20.0) where this run has Dense(name=layer_1, units=16, clip=20.0)"
    )
    without_last = DEEPSPEECH.to_json()[:-1]
    assert difference(without_last, DEEPSPEECH.to_json()) == "it has 6 layers where this run has 7"


def test_frames_become_rows_and_a_row_looks_ahead_by_the_strides_before_it() -> None:
    some = Network(
        "some",
        26,
        (
            Convolution("a", channels=4, time_stride=2),
            Convolution("b", channels=4, input_channels=4, time=4, time_stride=3),
            SelfAttention("c", heads=2, chunk=5),
            IntermediateCTC("d"),
            Dense("labels", units=4),
        ),
    )
    assert (some.time_reduction, some.look_ahead, some.streams) == (6, 1 + 2 * 2 + 6 * 4, True)
    assert [some.rows(frames) for frames in (1, 6, 7, 12)] == [1, 1, 2, 2]
    assert (DEEPSPEECH.time_reduction, DEEPSPEECH.look_ahead) == (1, 9)
    whole = Network("whole", 26, (SelfAttention("c", heads=1), Dense("labels", units=4)))
    assert not whole.streams and DEEPSPEECH.streams


@pytest.mark.parametrize(
    ("first", "second", "look_ahead"),
    [(10, 10, 9), (10, 5, 9), (5, 10, 9), (4, 6, 5 + 2)],
)
def test_chunks_that_end_together_add_nothing_to_one_another(first: int, second: int, look_ahead: int) -> None:
    chunks = (ChunkedLSTM("a", 4, first), LayerNormalization("b"), SelfAttention("c", heads=2, chunk=second))
    some = Network("some", 26, (Convolution("d", channels=4, time_stride=2), *chunks, Dense("labels", units=4)))
    assert (some.look_ahead, some.streams) == (2 * look_ahead + 1, True)


chunks_of_rows = st.integers(1, 12).flatmap(lambda chunk: st.tuples(st.just(chunk), st.integers(0, chunk - 1)))


@given(st.lists(chunks_of_rows, max_size=4), st.integers(1, 3))
def test_the_look_ahead_is_that_of_the_row_that_waits_longest(sizes: list[tuple[int, int]], stride: int) -> None:
    subsampling = Convolution("a", channels=4, time=stride, time_stride=stride)
    chunks = tuple(ChunkedLSTM(f"lstm_{index}", 4, *size) for index, size in enumerate(sizes))
    some = Network("some", 26, (subsampling, *chunks, Dense("labels", units=4)))
    waits = [_needed(row, chunks) - row for row in range(math.lcm(*(chunk for chunk, _ in sizes)))]
    longest = max(waits) * stride + subsampling.look_ahead
    assert longest <= some.look_ahead
    if all(larger % smaller == 0 for (larger, _), (smaller, _) in pairwise(sorted(sizes, reverse=True))):
        assert longest == some.look_ahead


def _needed(row: int, chunks: tuple[ChunkedLSTM, ...]) -> int:
    """Return the last row that a row of the outputs depends on."""
    for layer in reversed(chunks):
        row += (layer.chunk - layer.offset - 1 - row) % layer.chunk
    return row


def test_a_record_tells_the_offset_of_chunks_only_if_there_is_one() -> None:
    assert "offset" not in ChunkedLSTM("a", units=4, chunk=3).to_json()
    record = ChunkedLSTM("a", units=4, chunk=3, offset=1).to_json()
    assert record == {"layer": "ChunkedLSTM", "name": "a", "units": 4, "chunk": 3, "offset": 1}


def test_every_second_lstm_has_chunks_of_other_ends() -> None:
    flags: dict[str, Any] = {
        "network": "lstm",
        "n_hidden": 16,
        "output_step": 20,
        "lstm_chunk": 16,
        "lstm_chunk_offset": 8,
    }
    some = network(with_values(ModelOptions(), flags), 26, 28)
    chunked = [layer for layer in some.layers if isinstance(layer, ChunkedLSTM)]
    assert [(layer.chunk, layer.offset) for layer in chunked] == [(16, 0), (16, 8), (16, 0), (16, 8)]
    aligned = replace(some, layers=tuple(replace(a, offset=0) if a in chunked else a for a in some.layers))
    assert some.look_ahead == aligned.look_ahead + 3 * 8
