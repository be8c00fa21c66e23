"""Settings of a model: each change is made completely or not at all, by any thread."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path
from typing import Literal

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


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_hot_word_is_known_in_all_forms_of_unicode(
    form: Literal["NFC", "NFD"], tmp_path: Path, noise: npt.NDArray[np.int16], caplog: pytest.LogCaptureFixture
) -> None:
    alphabet = Alphabet(tuple(dict.fromkeys(" abe" + unicodedata.normalize(form, "\u00e9"))))
    (tmp_path / "graph.pb").write_bytes(serialized(untrained(*MODELS["lstm"], alphabet), ExportOptions()))
    model = Model(tmp_path / "graph.pb")
    model.enableExternalScorer(write_unigrams(tmp_path / "lm.arpa", dict.fromkeys(("a", "b", "ab"), -0.5)))
    texts = []
    for typed in ("b\u00e9", "be\u0301"):
        model.set_hot_words({typed: 1000.0})
        texts.append(model.stt(noise))
    assert texts[0] == texts[1] and unicodedata.normalize(form, "b\u00e9") in texts[0].split()
    model.set_hot_words({"b\u00ea": 1.0})
    assert len(caplog.records) == 1


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
