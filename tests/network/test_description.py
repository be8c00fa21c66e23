"""What follows from the records of a network."""

from __future__ import annotations

import json
from dataclasses import replace
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
from deepspeech.options import ModelOptions

DEEPSPEECH = network(ModelOptions(n_hidden=16), 26, 28)

names = st.text(min_size=1, max_size=20)
sizes = st.integers(1, 5000)
layers = st.one_of(
    st.builds(ContextWindow, names, frames=st.integers(0, 20)),
    st.builds(Dense, names, units=sizes, clip=st.none() | st.floats(0.5, 100), dropout=st.floats(0, 0.9)),
    st.builds(LSTM, names, units=sizes, input_dropout=st.floats(0, 0.9)),
    st.builds(BidirectionalLSTM, names, units=sizes),
    st.builds(ChunkedLSTM, names, units=sizes, chunk=st.integers(1, 100)),
    st.builds(Projection, names, units=sizes),
    st.builds(LayerNormalization, names, dropout=st.floats(0, 0.9)),
    st.builds(FeedForward, names, units=sizes),
    st.builds(ConvolutionModule, names, before=st.integers(0, 20), after=st.integers(0, 20)),
    st.builds(Convolution, names, channels=sizes, time=st.integers(3, 5), time_stride=st.integers(1, 3)),
)
networks = st.lists(layers, max_size=6, unique_by=lambda layer: layer.name).map(
    lambda some: Network("some", 26, (*some, Dense("the last layer of all", units=29)))
)


@given(networks)
def test_a_network_comes_back_from_its_json(some: Network) -> None:
    back = network_from_json("some", 26, json.loads(json.dumps(some.to_json())))
    assert back.shapes == some.shapes
    assert back.to_json() == some.to_json()
    assert difference(back.to_json(), some.to_json()) is None


@given(networks)
def test_the_sizes_of_a_network_follow_from_the_shapes_of_its_variables(some: Network) -> None:
    smallest = Network("some", 26, tuple(_of_one_unit(layer) for layer in some.layers))
    assert smallest.resized(some.shapes).shapes == some.shapes


def _of_one_unit(layer: Layer) -> Layer:
    if isinstance(layer, Dense):
        return Dense(layer.name, 1, layer.clip)
    if isinstance(layer, LSTM | BidirectionalLSTM | ChunkedLSTM | Projection | FeedForward):
        return replace(layer, units=1)
    return replace(layer, channels=1) if isinstance(layer, Convolution) else layer


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
        [{"layer": "Dense", "name": "a", "units": True, "clip": None}],
        [{"layer": "Dense", "name": "", "units": 4, "clip": None}],
        [{"layer": "Dense", "name": "a", "units": 4, "clip": float("nan")}],
        [{"layer": "LSTM", "name": "a", "units": 4}],
        [{"layer": "IntermediateCTC", "name": "a"}],
        [Convolution("a", channels=4, time_stride=0).to_json()],
        [Convolution("a", channels=4, time=2, time_stride=3).to_json()],
        [Convolution("a", channels=4, input_channels=3).to_json()],
        [ChunkedLSTM("a", units=4, chunk=0).to_json()],
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
    [(10, 10, 9), (10, 5, 9), (5, 10, 9), (4, 6, 3 + 5)],
)
def test_chunks_that_end_together_add_nothing_to_one_another(first: int, second: int, look_ahead: int) -> None:
    chunks = (ChunkedLSTM("a", 4, first), LayerNormalization("b"), SelfAttention("c", heads=2, chunk=second))
    some = Network("some", 26, (Convolution("d", channels=4, time_stride=2), *chunks, Dense("labels", units=4)))
    assert (some.look_ahead, some.streams) == (2 * look_ahead + 1, True)
