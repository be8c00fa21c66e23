"""Exported graphs of networks with other shapes than DeepSpeech's, with random weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from graph_running import run_graph

from deepspeech.errors import ExportError, GraphError
from deepspeech.export.formats import TrainedModel
from deepspeech.export.frozen_graph import frozen_graph
from deepspeech.network import LSTM, ContextWindow, Convolution, Dense, IntermediateCTC, Layer, Network
from deepspeech.options import ExportOptions
from deepspeech.serving.engine import Engine
from deepspeech.serving.frozen.metadata import parse_network, serialize_network
from deepspeech.serving.frozen.model import read_frozen_model
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet

ALPHABET = Alphabet(tuple(" abcde"))
LABELS = Dense("labels", units=ALPHABET.size + 1)
LAYERS: dict[str, tuple[Layer, ...]] = {
    "no_context": (Dense("first", 20, clip=6.0), LSTM("lstm", 17), LABELS),
    "lstm_first": (LSTM("lstm", 33), LABELS),
    "three_lstms": (
        ContextWindow("window", 2),
        LSTM("a", 12),
        LSTM("b", 20),
        Dense("c", 9, clip=1.0),
        LSTM("d", 5),
        LABELS,
    ),
    "inner_loss": (Dense("a", 17, clip=6.0), IntermediateCTC("inner"), LSTM("lstm", 17), LABELS),
    "linear_inside": (ContextWindow("window", 1), Dense("linear", 30), LSTM("lstm", 16), Dense("d", 8, 20.0), LABELS),
}


def write_graph(path: Path, name: str, layers: tuple[Layer, ...], n_steps: int = 16) -> Path:
    """Write the graph of a network with random weights."""
    network = Network(name, 26, layers)
    random = np.random.default_rng(3)
    weights = {each: random.normal(0, 0.3, shape).astype(np.float32) for each, shape in network.shapes.items()}
    trained = TrainedModel(network, weights, ALPHABET, FeatureOptions())
    graph = frozen_graph(trained, ExportOptions(path.parent, n_steps=n_steps))
    path.write_bytes(graph.SerializeToString())
    return path


@pytest.mark.parametrize("n_steps", [1, 16])
@pytest.mark.parametrize("name", LAYERS)
def test_the_engine_computes_what_tensorflow_does(name: str, n_steps: int, tmp_path: Path) -> None:
    path = write_graph(tmp_path / "output_graph.pb", name, LAYERS[name], n_steps=n_steps)
    model = read_frozen_model(path)
    assert (model.info.network.name, model.info.n_steps) == (name, n_steps)
    windows = np.random.default_rng(1).normal(size=(50, model.info.network.window_width)).astype(np.float32)
    engine = Engine(model)
    posteriors, _ = engine.run(windows, engine.initial_state())
    np.testing.assert_allclose(posteriors, run_graph(path, windows, n_steps), atol=1e-4)
    state, pieces = engine.initial_state(), []
    for start in range(0, 50, 7):
        piece, state = engine.run(windows[start : start + 7], state)
        pieces.append(piece)
    np.testing.assert_allclose(np.concatenate(pieces), posteriors, atol=1e-5)


def test_a_layer_may_have_the_name_of_the_output(tmp_path: Path) -> None:
    logits = Dense("logits", units=LABELS.units)
    for number, first in enumerate((Dense("first", 20, clip=6.0), Convolution("first", channels=2))):
        path = write_graph(tmp_path / f"{number}.pb", "own", (first, LSTM("lstm", 17), logits))
        engine = Engine(read_frozen_model(path))
        assert engine.posteriors(np.zeros((3, 26), np.float32)).shape == (3, LABELS.units)


def test_a_network_without_a_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="has no LSTM"):
        write_graph(tmp_path / "graph.pb", "dense", (Dense("first", 20, clip=6.0), LABELS))


@dataclass(frozen=True)
class Smooth(Dense):
    """A dense layer that training may compute in another way; readers of graphs do not know it."""


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (Dense("first", 20, clip=math.inf), "its layer first has clip=inf, but a graph has only numbers from 0 to"),
        (Dense("first", 20, clip=1e9), "its layer first has clip=1000000000.0"),
        (Smooth("first", 20, clip=6.0), "its layer first is a Smooth"),
    ],
)
def test_what_could_not_be_read_from_a_graph_is_not_written(first: Layer, words: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=words):
        write_graph(tmp_path / "graph.pb", "own", (first, LSTM("lstm", 17), LABELS))


def test_a_network_in_a_graph_survives_and_anything_else_is_refused() -> None:
    network = Network("some", 26, LAYERS["three_lstms"])
    assert parse_network(serialize_network(network), 26).shapes == network.shapes
    for wrong in (b"", b"[]", b"{}", b'{"name": "x"}', b'{"name": "x", "layers": [{}]}', b"\xff", b"[" * 100_000):
        with pytest.raises(GraphError):
            parse_network(wrong, 26)


def test_layers_that_do_not_fit_the_weights_are_refused(tmp_path: Path) -> None:
    path = write_graph(tmp_path / "graph.pb", "lstm_first", LAYERS["lstm_first"])
    changed = tmp_path / "changed.pb"
    for before, after in ((b'"units": 33', b'"units": 34'), (b'"name": "lstm"', b'"name": "lstn"'), (b"LSTM", b"GRUU")):
        changed.write_bytes(path.read_bytes().replace(before, after))
        with pytest.raises(GraphError, match=r"changed\.pb"):
            read_frozen_model(changed)
