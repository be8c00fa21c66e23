"""The published DeepSpeech 0.9.3 client on a graph that was trained on real recordings: its transcripts are ours.

The network's posteriors are compared with TensorFlow's on the same graph, too, so if two texts differ, the decoders are
the reason.
"""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from graph_running import run_graph, windows_of
from program import Program
from published import PublishedClient, load_library

from deepspeech import Model
from deepspeech.export.formats import TrainedModel
from deepspeech.export.frozen_graph import frozen_graph
from deepspeech.network import LSTM, ContextWindow, Dense, Network, network
from deepspeech.options import ExportOptions, ModelOptions
from deepspeech.serving.engine import Engine
from deepspeech.serving.frozen.model import read_frozen_model
from deepspeech.util.audio import read_audio
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet

ROOT = Path(__file__).parents[2]
DIGITS_SCORER = Path(__file__).with_name("digits.scorer")
HYPOTHESES = 50
"""Hypotheses that are searched for a text's score; with 500, the published client sometimes crashes."""
CHUNK = 320
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def read_samples(path: Path) -> npt.NDArray[np.int16]:
    return np.asarray(np.round(read_audio(path, 16_000) * 32767).astype(np.int16))


def write_csv(path: Path, recordings: list[Path]) -> Path:
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["wav_filename", "wav_filesize", "transcript"])
        rows.writerows([recording, recording.stat().st_size, WORDS[int(recording.name[0])]] for recording in recordings)
    return path


@pytest.fixture(scope="module")
def tools(shared: Path) -> Path:
    """Return the folder of the published client's script, if the client is available."""
    try:
        load_library(shared / "tools")
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"the published client cannot be had: {error}")
    return shared / "tools"


@pytest.fixture(scope="module")
def digits(shared: Path) -> list[Path]:
    """Return the corpus's test set: takes 0 to 4 of all speakers and digits."""
    return sorted((shared / "data/fsdd/recordings").glob("*_[0-4].wav"))


@pytest.fixture(scope="module")
def digits_graph(shared: Path, tmp_path_factory: pytest.TempPathFactory, tiny_corpus: object) -> Path:
    """Return a graph trained on real recordings, but only briefly, so that it makes many errors."""
    folder = tmp_path_factory.mktemp("digits")
    recordings = sorted((shared / "data/fsdd/recordings").glob("*_[1-4][0-9].wav"))
    program = Program(tiny_corpus, folder)  # type: ignore[arg-type]
    finished = program.run(
        *(f"--train_files={write_csv(folder / 'train.csv', recordings)}", "--train_batch_size=20", "--epoch=5"),
        *("--n_hidden=128", "--learning_rate=0.002", "--dropout_rate=0.1"),
        *(f"--checkpoint_dir={folder / 'checkpoints'}", f"--export_dir={folder / 'export'}"),
    )
    assert finished.code == 0, finished.stderr
    return folder / "export/output_graph.pb"


@pytest.fixture(params=["alone", "digits", "general"])
def scorer(request: pytest.FixtureRequest, shared: Path) -> Path | None:
    """Return no scorer, one of the digits, or one of general English, in which few of the digits are likely."""
    return {"alone": None, "digits": DIGITS_SCORER, "general": shared / "compat/pruned_lm.scorer"}[request.param]


@pytest.fixture
def model(digits_graph: Path, scorer: Path | None) -> Model:
    model = Model(digits_graph)
    if scorer is not None:
        model.enableExternalScorer(scorer)
    return model


@pytest.fixture
def client(tools: Path, digits_graph: Path, scorer: Path | None) -> Iterator[PublishedClient]:
    with PublishedClient(tools, digits_graph, scorer) as client:
        yield client


def with_scores(text: str, model: Model, client: PublishedClient, samples: npt.NDArray[np.int16]) -> str:
    """Return a text and its score in each decoder, if the decoder has it."""
    ours = {
        "".join(token.text for token in candidate.tokens): candidate.confidence
        for candidate in model.sttWithMetadata(samples, HYPOTHESES).transcripts
    }
    theirs = dict(client.hypotheses(samples, HYPOTHESES))
    return f"{text!r} (our score {ours.get(text)}, published {theirs.get(text)})"


def test_the_published_client_hears_what_we_hear(model: Model, client: PublishedClient, digits: list[Path]) -> None:
    different = []
    texts = set()
    heard = [(path, "whole") for path in digits[::2]] + [(path, "streamed") for path in digits[::10]]
    for path, kind in heard:
        samples = read_samples(path)
        ours = model.stt(samples)
        theirs = client.stt(samples) if kind == "whole" else client.stream(samples, CHUNK)
        texts.add(ours)
        if theirs != ours:
            scored = [with_scores(text, model, client, samples) for text in (ours, theirs)]
            different.append(f"{path.name}, {kind}: ours {scored[0]}, published {scored[1]}")
    print("\n".join(different))
    assert len(different) <= len(heard) * 0.01, "\n".join(different)
    assert len(texts) > 3


def test_confidences_are_the_published_clients(model: Model, client: PublishedClient, digits: list[Path]) -> None:
    for path in digits[::5]:
        samples = read_samples(path)
        ((_, theirs),) = client.hypotheses(samples, 1)
        assert model.sttWithMetadata(samples).transcripts[0].confidence == pytest.approx(theirs, abs=0.05)


def test_posteriors_are_the_graphs_on_real_recordings(digits_graph: Path, digits: list[Path]) -> None:
    model = read_frozen_model(digits_graph)
    engine = Engine(model)
    for path in digits[::10]:
        samples = (read_samples(path) / 32768).astype(np.float32)
        windows = windows_of(samples, model.info)
        posteriors, _ = engine.run(windows, engine.initial_state())
        np.testing.assert_allclose(posteriors, run_graph(digits_graph, windows), rtol=0, atol=5e-4)


def test_the_published_client_runs_networks_of_several_lstms(tools: Path, digits: list[Path], tmp_path: Path) -> None:
    """Their states are concatenated in the one state that the client passes."""
    alphabet = Alphabet(tuple(" abcdefghijklmnopqrstuvwxyz'"))
    layers = (
        ContextWindow("window", 3),
        Dense("first", 64, clip=20.0),
        *(LSTM("second", 48), LSTM("third", 32)),
        Dense("labels", alphabet.size + 1),
    )
    network = Network("two_lstms", 26, layers)
    random = np.random.default_rng(1)
    weights = {name: random.normal(0, 0.3, shape).astype(np.float32) for name, shape in network.shapes.items()}
    graph = frozen_graph(TrainedModel(network, weights, alphabet, FeatureOptions()), ExportOptions(tmp_path))
    path = tmp_path / "output_graph.pb"
    path.write_bytes(graph.SerializeToString())
    model = Model(path)
    with PublishedClient(tools, path) as client:
        samples = [read_samples(recording) for recording in digits[::25]]
        texts = [(model.stt(each), client.stt(each), client.stream(each, CHUNK)) for each in samples]
    assert len({ours for ours, _, _ in texts}) > 3
    assert all(ours == whole == streamed for ours, whole, streamed in texts), texts


def test_the_published_client_refuses_features_that_it_does_not_compute(tools: Path, tmp_path: Path) -> None:
    alphabet, features = Alphabet(tuple("ab")), FeatureOptions(feature_type="fbank")
    described = network(ModelOptions(n_hidden=16), features.width, alphabet.size)
    weights = {name: np.zeros(shape, np.float32) for name, shape in described.shapes.items()}
    path = tmp_path / "output_graph.pb"
    graph = frozen_graph(TrainedModel(described, weights, alphabet, features), ExportOptions(tmp_path))
    path.write_bytes(graph.SerializeToString())
    assert Model(path).posteriors(np.zeros(16_000, np.float32)).shape == (100, 3)
    with pytest.raises(AssertionError, match="refused it"):
        PublishedClient(tools, path)
