"""Scripts get the same transcripts from an ONNX model that computes its features as from its graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from corpora import write_csv
from retold_corpus import write_unigrams
from running import assert_fails_with, run_script
from untrained import MODELS, signal, untrained

from deepspeech.export.formats import FORMATS
from deepspeech.options import ExportOptions
from deepspeech.serving.acoustics.loading import load_acoustic_model
from deepspeech.util.audio import read_audio

FORMATS_OF_MODELS = {"output_graph.pb": "graph", "model.onnx": "onnx"}


@pytest.fixture
def models(tmp_path: Path) -> list[Path]:
    """Write a network with random weights as a graph and in ONNX, and beside them a corpus of two recordings."""
    trained = untrained(*MODELS["lstm"])
    for name, kind in FORMATS_OF_MODELS.items():
        content = FORMATS[kind].serialized(trained, ExportOptions(features=kind == "onnx"))
        (tmp_path / name).write_bytes(content)
    rows = []
    for number, text in enumerate(("ab", "cab d")):
        soundfile.write(tmp_path / f"{number}.wav", signal(16_000 + number), 16_000)
        rows.append((tmp_path / f"{number}.wav", text))
    write_csv(tmp_path / "dev.csv", rows)
    return [tmp_path / name for name in FORMATS_OF_MODELS]


def test_bad_rows_are_found(models: list[Path], tmp_path: Path) -> None:
    lists = []
    for model in models:
        done = run_script(
            "find_bad_rows.py", model, tmp_path / "dev.csv", "--worst=2", "--output", tmp_path / "bad.csv"
        )
        assert done.returncode == 0, done.stderr
        lists.append([line.split(",")[:7] for line in (tmp_path / "bad.csv").read_text().splitlines()])
    assert len(lists[0]) == 3 and lists[0] == lists[1]


def test_a_language_model_that_is_missing_is_named_before_the_model_runs(models: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("matplotlib")
    flags = ("--csv", tmp_path / "dev.csv", "--lm", tmp_path / "none.lm", "--out", tmp_path / "tuned")
    assert_fails_with(run_script("tune_lm.py", "--model", models[0], *flags), "none.lm")
    assert not (tmp_path / "tuned").exists()


def test_weights_are_tuned(models: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("matplotlib")
    words = write_unigrams(tmp_path / "words.arpa", {"ab": -1, "cab": -1, "d": -1})
    posteriors = []
    for model in models:
        flags = ("--lm", words, "--out", tmp_path / "tuned", "--trials=1", "--beam-width=9")
        done = run_script("tune_lm.py", "--model", model, "--csv", tmp_path / "dev.csv", *flags)
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "tuned/posteriors.npz") as archive:
            posteriors.append([archive[name] for name in archive.files])
    for of_graph, of_onnx in zip(*posteriors, strict=True):
        np.testing.assert_allclose(of_onnx, of_graph, atol=1e-4)


def test_weights_are_tuned_on_the_frames_of_the_test_that_uses_them(tmp_path: Path) -> None:
    """`Model` has one frame more, of which a test knows nothing."""
    pytest.importorskip("optuna")
    pytest.importorskip("matplotlib")
    (tmp_path / "graph.pb").write_bytes(FORMATS["graph"].serialized(untrained(*MODELS["deepspeech"]), ExportOptions()))
    soundfile.write(tmp_path / "0.wav", signal(16_100), 16_000)
    write_csv(tmp_path / "dev.csv", [(tmp_path / "0.wav", "ab")])
    words = write_unigrams(tmp_path / "words.arpa", {"ab": -1})
    flags = ("--csv", tmp_path / "dev.csv", "--lm", words, "--out", tmp_path / "tuned", "--trials=1")
    done = run_script("tune_lm.py", "--model", tmp_path / "graph.pb", *flags)
    assert done.returncode == 0, done.stderr
    model = load_acoustic_model(tmp_path / "graph.pb")
    windows = model.features.windows_of(read_audio(tmp_path / "0.wav", 16_000))
    with np.load(tmp_path / "tuned/posteriors.npz") as archive:
        np.testing.assert_allclose(archive["arr_0"], model.engine.posteriors(windows), atol=1e-5)
