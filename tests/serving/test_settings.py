"""Settings of a model: each change is made completely or not at all, by any thread."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from retold_corpus import write_unigrams
from untrained import MODELS, untrained

from deepspeech import Model
from deepspeech.errors import ModelError
from deepspeech.export.frozen_graph import serialized
from deepspeech.options import ExportOptions
from deepspeech.util.output_units import WordPieceAlphabet
from deepspeech.util.text import Alphabet


@pytest.fixture
def scored(graph_file: Path, scorer_file: Path) -> Model:
    """Return a model of the test's own, with a scorer."""
    model = Model(graph_file)
    model.enableExternalScorer(scorer_file)
    return model


@pytest.fixture(scope="module")
def noise() -> npt.NDArray[np.int16]:
    return np.random.default_rng(3).normal(0, 2000, 8000).astype(np.int16)


def test_a_refused_setting_leaves_the_model_as_it_was(scored: Model, noise: npt.NDArray[np.int16]) -> None:
    before = scored.stt(noise)
    for refused in (
        lambda: scored.setScorerAlphaBeta(1e60, 1),
        lambda: scored.setScorerAlphaBeta(float("nan"), 1),
        lambda: scored.setBeamWidth(0),
        lambda: scored.setBeamWidth(1 << 30),
        lambda: scored.addHotWord("a", float("inf")),
        lambda: scored.enableExternalScorer("missing.scorer"),
        lambda: scored.enableExternalScorer("x" * 5000),  # longer than any system allows
    ):
        weights, beam_width = scored.scorer_weights, scored.beamWidth()
        with pytest.raises(RuntimeError):
            refused()
        assert (scored.scorer_weights, scored.beamWidth()) == (weights, beam_width)
        assert scored.stt(noise) == before
    assert scored.setBeamWidth(20) == 0
    scored.addHotWord("a", 1.0)
    assert scored.disableExternalScorer() == 0
    assert scored.disableExternalScorer() != 0


@pytest.mark.parametrize(
    ("letters", "typed", "heard"),
    [
        ("b\u00e9", ["b\u00e9", "be\u0301", "B\u00c9"], "b\u00e9"),
        ("be\u0301", ["b\u00e9", "be\u0301", "BE\u0301"], "be\u0301"),
        ("D\u00c9", ["d\u00e9", "D\u00c9"], "D\u00c9"),
        ("do'", ["d'o", "D\u2019O", "\u201cd\u2018o\u201d"], "d'o"),
        ("do\u2019", ["d'o", "d\u2019O", "d`o"], "d\u2019o"),
        ("d\u0131i", ["DI", "d\u0131"], "d\u0131"),
        ("de-", ["d\u2010e", "D-E"], "d-e"),
        ("de", ["d-e", "D E"], "d e"),
    ],
)
def test_a_hot_word_is_read_in_the_form_that_the_alphabet_spells(
    letters: str, typed: list[str], heard: str, tmp_path: Path, noise: npt.NDArray[np.int16]
) -> None:
    alphabet = Alphabet(tuple(dict.fromkeys(" abc" + letters)))
    (tmp_path / "graph.pb").write_bytes(serialized(untrained(*MODELS["lstm"], alphabet), ExportOptions()))
    model = Model(tmp_path / "graph.pb")
    model.enableExternalScorer(write_unigrams(tmp_path / "lm.arpa", dict.fromkeys(("a", "b", "ab"), -0.5)))
    for word in typed:
        model.set_hot_words({word: 1000.0})
        assert f" {heard} " in f" {model.stt(noise)} "


def test_only_hot_words_that_no_form_makes_spellable_are_told(
    scored: Model, noise: npt.NDArray[np.int16], caplog: pytest.LogCaptureFixture
) -> None:
    scored.set_hot_words({"b\u00ea": 1.0, "A&B": 1.0, "ABC": 1.0})
    assert [record.args for record in caplog.records] == [("b\u00ea",), ("A&B",)]
    without = scored.stt(noise)
    scored.set_hot_words({"EEE": 200.0, "eee": 0.0})  # as it is written exactly, its own boost is used
    assert scored.stt(noise) == without


def test_a_negative_weight_is_taken(scored: Model, noise: npt.NDArray[np.int16]) -> None:
    assert scored.setScorerAlphaBeta(-0.1, 1.0) == 0
    assert scored.scorer_weights == (-0.1, 1.0)
    assert isinstance(scored.stt(noise), str)


def test_a_language_model_that_needs_a_missing_library_is_an_error_of_the_model(
    tmp_path: Path, scorer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = WordPieceAlphabet((" ", "a", "b", " a", " b"), b"")
    (tmp_path / "graph.pb").write_bytes(serialized(untrained(*MODELS["lstm"], pieces), ExportOptions()))
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(ModelError, match="word pieces needs sentencepiece: install"):
        Model(tmp_path / "graph.pb").enableExternalScorer(scorer_file)
