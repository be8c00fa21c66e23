"""The card of an exported model."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from deepspeech.checkpoints.identity import ModelIdentity
from deepspeech.checkpoints.model_figures import ModelFigures, keep_figures
from deepspeech.export.folder import CARD_FILE, write_export
from deepspeech.export.model_card import Card, model_card
from deepspeech.network import LSTM, Dense, registry
from deepspeech.options import ExportOptions, ModelOptions
from deepspeech.schedule.state import TrainingState
from deepspeech.util.features import FeatureOptions
from deepspeech.util.front_ends.fbank import Fbank
from deepspeech.util.text import Alphabet


@pytest.mark.parametrize(
    ("normalization", "said"),
    [
        ("global", "of the training set"),
        ("running", "of the recording so far"),
        ("utterance", "of the whole recording"),
        ("none", None),
    ],
)
def test_a_card_says_whose_statistics_normalize_features(normalization: str, said: str | None) -> None:
    features = FeatureOptions(feature_type="fbank", normalization=normalization)
    identity = ModelIdentity(Alphabet(("a", "b")), features, ModelOptions(n_hidden=8))
    card = model_card(Card(("best",), None, ModelFigures(), identity, ExportOptions()))
    assert ("normalized by the statistics" in card) == (said is not None)
    assert said is None or f"normalized by the statistics {said}" in card
    assert said is None or f"(`--normalize_features={normalization}`)" in card


def test_a_card_says_what_the_front_end_says_of_its_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    identity = ModelIdentity(Alphabet(("a", "b")), FeatureOptions(feature_type="fbank"), ModelOptions(n_hidden=8))
    card = Card(("best",), None, ModelFigures(), identity, ExportOptions())
    assert "- 80 log-mel energies (`fbank`)" in model_card(card)
    monkeypatch.setattr(Fbank, "contents", "energies")
    assert "- 80 energies (`fbank`)" in model_card(card)


def test_a_card_says_that_further_training_of_an_own_network_needs_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def card_of(network: str) -> str:
        identity = ModelIdentity(Alphabet(("a", "b")), FeatureOptions(), ModelOptions(n_hidden=8, network=network))
        return model_card(Card(("best",), None, ModelFigures(), identity, ExportOptions()))

    monkeypatch.setitem(registry._registered, "own", lambda sizes: (LSTM("lstm", 4), Dense("labels", sizes.outputs)))
    assert "- network `own` (`--network=FILE.py:own`), 511 parameters\n- `FILE.py` is its author's, " in card_of("own")
    assert "(`--network=lstm`)" in card_of("lstm") and "FILE.py" not in card_of("lstm")


@pytest.mark.parametrize(
    ("normalization", "said"),
    [("running", "streams, with a look-ahead of 1150 ms"), ("utterance", "needs the whole recording")],
)
def test_a_card_says_that_features_of_whole_recordings_do_not_stream(normalization: str, said: str) -> None:
    features = FeatureOptions(feature_type="fbank", normalization=normalization)
    identity = ModelIdentity(Alphabet(("a", "b")), features, ModelOptions(n_hidden=8, network="convolutional"))
    card = model_card(Card(("best",), None, ModelFigures(), identity, ExportOptions()))
    assert f"- {said}" in card
    assert ("- streams" in card) == (normalization == "running")


@pytest.mark.parametrize(
    ("export_format", "beginning", "runs"),
    [
        ("graph", "Graph version 6, language de, exported by", "16 time steps of one utterance in a run of the graph"),
        ("tflite", "Graph version 6, language de, exported by", "16 time steps of one utterance in a run of the graph"),
        ("onnx", "Language de, exported by", "an output every 20 ms\n- streams, with a look-ahead of 180 ms"),
        ("sherpa", "Language de, exported by", "an output every 20 ms\n- streams, with a look-ahead of 180 ms"),
    ],
)
def test_a_card_tells_the_version_and_the_size_of_graphs_alone(export_format: str, beginning: str, runs: str) -> None:
    identity = ModelIdentity(Alphabet(("a", "b")), FeatureOptions(), ModelOptions(n_hidden=8))
    export = ExportOptions(format=export_format, language="de")
    card = model_card(Card(("best",), None, ModelFigures(), identity, export))
    assert card.splitlines()[2].startswith(beginning)
    assert f"- {runs}" in card
    assert ("in a run of the graph" in card) == runs.endswith("in a run of the graph")


def test_a_card_names_test_files_whose_names_are_not_utf_8(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.csv")
    keep_figures(tmp_path, test_files=(name,), test_checkpoint="best", test_utterances=1)
    figures = ModelFigures.read(tmp_path)
    assert figures.test_files == (name,)
    identity = ModelIdentity(Alphabet(("a", "b")), FeatureOptions(), ModelOptions(n_hidden=8))
    card = model_card(Card(("best",), None, figures, identity, ExportOptions()))
    write_export(tmp_path / "export", {"output_graph.pb": b""}, card, remove=False)
    assert "caf\\udce9.csv" in (tmp_path / "export" / CARD_FILE).read_text("utf-8")


@pytest.mark.parametrize("change", [{"wer": {}}, {"test_files": [3]}, {"test_checkpoint": 0.5}, {"train_hours": None}])
def test_figures_of_other_kinds_are_none(change: dict[str, object], tmp_path: Path) -> None:
    keep_figures(tmp_path, test_files=("a.csv",), test_checkpoint="best", test_utterances=1, wer=0, train_hours=2.5)
    path = tmp_path / "model_figures.json"
    figures = json.loads(path.read_text())
    assert ModelFigures.read(tmp_path).train_hours == 2.5
    path.write_text(json.dumps({**figures, **change}))
    assert ModelFigures.read(tmp_path) == ModelFigures()


def test_the_figures_of_a_mean_of_checkpoints_are_not_those_of_one_of_them() -> None:
    identity = ModelIdentity(Alphabet(("a", "b")), FeatureOptions(), ModelOptions(n_hidden=8))
    figures = ModelFigures(test_checkpoint="best_dev-6, best_dev-4", test_utterances=3, wer=0.5)

    def card(*checkpoints: str) -> str:
        return model_card(Card(checkpoints, None, figures, identity, ExportOptions()))

    mean = card("best_dev-6", "best_dev-4")
    assert mean.count("the mean of the checkpoints `best_dev-6` and `best_dev-4`") == 2
    assert "word error rate 50.00%" in mean
    assert "the mean of the checkpoints `a`, `b` and `c`" in card("a", "b", "c")
    assert "from checkpoint `best_dev-6`." in card("best_dev-6")
    assert "word error rate" not in card("best_dev-6")


def test_a_single_utterance_is_counted_as_one() -> None:
    identity = ModelIdentity(Alphabet(("a", "b")), FeatureOptions(), ModelOptions(n_hidden=8))
    figures = ModelFigures(train_utterances=1, test_checkpoint="best", test_utterances=1, test_files=("test.csv",))
    card = model_card(Card(("best",), None, figures, identity, ExportOptions()))
    assert "\n- 1 utterance, 0.00 hours\n" in card
    assert "\n- the 1 utterance of test.csv\n" in card


def test_a_card_tells_of_training_what_is_known() -> None:
    identity = ModelIdentity(Alphabet(("a", "b")), FeatureOptions(), ModelOptions(n_hidden=8))
    state = TrainingState(epoch=2, dev_losses=(2.25, 3.5))
    by_words = replace(state, dev_error_rates=(0.5, 0.25), best_by="wer")
    figures = ModelFigures(train_utterances=1234, train_hours=5.5)
    card = model_card(Card(("best",), state, figures, identity, ExportOptions()))
    assert "\n## Training\n\n- 1,234 utterances, 5.50 hours\n- 2 epochs\n- lowest validation loss 2.2500\n\n" in card
    assert "\n## Alphabet\n\n2 labels and the blank: `a` `b`\n\n" in card
    assert "- lowest validation WER 25.00% without a language model\n\n" in model_card(
        Card(("best",), by_words, figures, identity, ExportOptions())
    )
    backtick = replace(identity, alphabet=Alphabet(("a", "`")))
    assert "2 labels and the blank: `a` `` ` ``\n" in model_card(
        Card(("best",), state, figures, backtick, ExportOptions())
    )
    unknown = model_card(Card(("best",), None, ModelFigures(), identity, ExportOptions()))
    assert "\n## Training\n\nThe checkpoint does not record how it was trained.\n\n" in unknown
