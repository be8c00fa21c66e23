"""Confidences as probabilities: their observations, how they are fitted and stored, and how reliable they are."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
import soundfile
import tensorflow as tf
from corpora import write_tiny_corpus
from untrained import MODELS, signal, untrained

from deepspeech import Model
from deepspeech.cli.confidence.calibrate import main as calibrate
from deepspeech.decoder import Hypothesis
from deepspeech.decoder.hypotheses import LabelTexts
from deepspeech.errors import GraphError
from deepspeech.export.frozen_graph import serialized
from deepspeech.options import ExportOptions
from deepspeech.serving.confidence.calibration import Calibration, Calibrations, Observation, fitted
from deepspeech.serving.confidence.reliability import reliability
from deepspeech.serving.confidence.words import ROWS_AFTER_WORD, Rivals, observations
from deepspeech.serving.frozen.constants import with_text
from deepspeech.serving.frozen.metadata import CALIBRATIONS_NODE
from deepspeech.serving.recognition import Recognizer
from deepspeech.util.audio import read_audio
from deepspeech.util.corpus import Corpus
from deepspeech.util.output_units import SyllableAlphabet
from deepspeech.util.parts import Part
from deepspeech.util.text import Alphabet


def test_a_confidence_grows_with_agreement_and_clarity() -> None:
    calibration = Calibration(bias=0.0, agreement=1.0, clarity=0.5)
    assert calibration.confidence(Observation(0.5, 0.5)) == pytest.approx(0.5)
    assert calibration.confidence(Observation(0.9, 0.5)) == pytest.approx(0.9)
    sure, unsure = calibration.confidence(Observation(1.0, 1.0)), calibration.confidence(Observation(0.0, 0.0))
    assert 0 < unsure < 0.01 and 0.99 < sure < 1


@pytest.mark.parametrize("bias", [-1e6, -1000, 1000, 1e6])
def test_a_calibration_of_large_weights_has_confidences_too(bias: float) -> None:
    read = Calibrations.from_json(Calibrations(Calibration(bias, 1.0, 1.0)).to_json().encode())
    assert read.acoustic.confidence(Observation(0.5, 0.5)) == (bias > 0)


def test_a_fit_finds_the_calibration_that_words_follow() -> None:
    random = np.random.default_rng(0)
    truth = Calibration(bias=-1.0, agreement=0.8, clarity=0.3)
    observations = [Observation(float(agreement), float(clarity)) for agreement, clarity in random.random((20_000, 2))]
    right = [random.random() < truth.confidence(each) for each in observations]
    found = fitted(observations, right, Calibrations().acoustic)
    for name in ("bias", "agreement", "clarity"):
        assert getattr(found, name) == pytest.approx(getattr(truth, name), abs=0.06)
    confidences = [found.confidence(each) for each in observations]
    assert reliability(confidences, right).error < 0.02
    default = Calibrations().acoustic
    assert fitted(observations[:1], [True], default).bias == pytest.approx(default.bias, abs=1)


def test_reliability_is_told_by_ranges_of_confidence() -> None:
    table = reliability([0.15, 0.15, 0.85, 0.85, 0.85, 1.0], [False, True, True, True, False, True])
    assert [(each.words, each.right) for each in table.bins] == [(2, 0.5), (3, pytest.approx(2 / 3)), (1, 1.0)]
    assert table.error == pytest.approx((2 * 0.35 + 3 * (0.85 - 2 / 3)) / 6)
    assert table.area == pytest.approx((0 + 0.5 + 1 + 0.5 + 1 + 0.5 + 1 + 1) / 8)
    assert table.lines()[0].split() == ["confidence", "words", "confidence", "right"] and len(table.lines()) == 5
    assert reliability([], []).area == 0.5


def test_rivals_are_the_most_probable_of_the_other_labels() -> None:
    rivals = Rivals()
    rivals.feed(np.array([[0.5, 0.2, 0.1, 0.1, 0.05, 0.05], [0.0, 0.0, 0.3, 0.0, 0.0, 0.7]], np.float32))
    assert rivals.highest(0, 2, {0}) == pytest.approx(0.3)
    assert rivals.highest(0, 1, {0, 1}) == pytest.approx(0.1)
    assert rivals.highest(2, 2, set()) == 0


def test_only_hypotheses_that_have_a_word_at_its_time_agree() -> None:
    best, rival = hypothesis("a b", (0, 4, 8)), hypothesis("n a", (0, 4, 8))
    first, _ = observations(best, [best, rival], rivals_of(10, {}), {3})
    assert first.agreement == pytest.approx(0.5)


@pytest.mark.parametrize(("row", "clarity"), [(1, 1.0), (2, 0.4), (4, 0.4), (5, 1.0)])
def test_a_word_is_unclear_where_another_label_is_probable_before_the_next_word(row: int, clarity: float) -> None:
    best = hypothesis("a b", (2, 4, 5))
    first, _ = observations(best, [best], rivals_of(10, {row: 0.6}), {3})
    assert first.clarity == pytest.approx(clarity)


@pytest.mark.parametrize(("rows_after", "clarity"), [(ROWS_AFTER_WORD, 0.4), (ROWS_AFTER_WORD + 1, 1.0)])
def test_the_last_word_is_unclear_where_another_label_is_probable_soon_after_it(
    rows_after: int, clarity: float
) -> None:
    best = hypothesis("a b", (2, 4, 5))
    *_, last = observations(best, [best], rivals_of(20, {5 + rows_after: 0.6}), {3})
    assert last.clarity == pytest.approx(clarity)


def test_a_letter_is_unclear_where_the_next_one_is_probable_before_its_own_row() -> None:
    texts = LabelTexts("abn", range(3))
    best = Hypothesis(-1.0, -1.0, 0.0, (0, 2), (2, 4), texts)
    first, second = observations(best, [best], rivals_of(10, {3: 0.6}), ())
    assert [first.clarity, second.clarity] == pytest.approx([0.4, 1.0])


def test_words_at_some_places_are_observed_alone() -> None:
    best = hypothesis("a b n", (0, 1, 2, 3, 4))
    rivals = rivals_of(10, {2: 0.6})
    assert observations(best, [best], rivals, {3}, range(1, 2)) == observations(best, [best], rivals, {3})[1:2]


def hypothesis(text: str, rows: tuple[int, ...]) -> Hypothesis:
    """Return a hypothesis of labels of "abn " in these rows."""
    return Hypothesis(-1.0, -1.0, 0.0, tuple(map("abn ".index, text)), rows, LabelTexts("abn ", range(4)))


def rivals_of(rows: int, probabilities: dict[int, float]) -> Rivals:
    """Return rivals of which only "n" has probabilities, in some of the rows."""
    posteriors = np.zeros((rows, 5), np.float32)
    for row, probability in probabilities.items():
        posteriors[row, 2] = probability
    rivals = Rivals()
    rivals.feed(posteriors)
    return rivals


def test_words_have_confidences_with_and_without_a_language_model(
    graph_file: Path, recordings: list[Path], scorer_file: Path
) -> None:
    model = Model(graph_file)
    for scorer in (None, scorer_file):
        if scorer is not None:
            model.enableExternalScorer(scorer)
        for recording in recordings:
            whole = model.transcribe(recording)
            assert whole.words and all(0 < word.confidence < 1 for word in whole.words)
    signal = read_audio(recordings[0], model.sampleRate())
    noise = np.random.default_rng(0).normal(0, 0.3, len(signal)).astype(np.float32)
    clear, noisy = (model.candidates(samples)[0].words for samples in (signal, signal + noise))
    if noisy:
        assert max(word.confidence for word in noisy) <= max(word.confidence for word in clear)


def test_words_that_only_an_improbable_hypothesis_has_are_improbable() -> None:
    texts = LabelTexts("abn ", range(4))
    best = Hypothesis(-1.0, -1.0, 0.0, (0, 3, 1), (0, 4, 8), texts)  # "a b"
    other = Hypothesis(-15.0, -15.0, 0.0, (0, 3, 2), (0, 4, 8), texts)  # "a n"
    rivals = Rivals()
    rivals.feed(np.eye(5, dtype=np.float32)[[0, 4, 4, 4, 3, 4, 4, 4, 1, 4]])
    model: Any = SimpleNamespace(calibrations=Calibrations())
    decoder: Any = SimpleNamespace(scorer=None, space_columns=(3,))
    recognizer = Recognizer(model, MagicMock(), MagicMock(), decoder)
    first, said = recognizer.confidences(best, [best, other], rivals)
    same, unsaid = recognizer.confidences(other, [best, other], rivals)
    assert same == first > 0.9 and said > 0.9
    assert unsaid < 1e-5


def test_a_calibration_is_fitted_and_kept_in_the_graph(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, card = tmp_path / "output_graph.pb", tmp_path / "model.md"
    graph.write_bytes(graph_file.read_bytes())
    card.write_text("# A model of Müller\n\n## Test\n\n- good\n", "latin-1")
    dev = write_tiny_corpus(tmp_path / "corpus", 0, 0, 60, seed=7).test
    flags = [f"--model={graph}", f"--dev_files={dev}"]
    assert calibrate(flags) == 0
    printed = capsys.readouterr().out
    assert "expected calibration error" in printed and printed.splitlines()[-2] in card.read_text("latin-1")
    fitted_now = Model(graph).calibrations
    assert fitted_now.acoustic != Calibrations().acoustic and fitted_now.language_model == Calibrations().language_model
    assert calibrate(flags) == 0
    assert Model(graph).calibrations == fitted_now
    told = card.read_text("latin-1")
    assert told.count("## Confidence without a language model") == 1 and "## Test" in told and "Müller" in told
    definition = tf.compat.v1.GraphDef.FromString(graph.read_bytes())
    (node,) = (node for node in definition.node if node.name == CALIBRATIONS_NODE)
    assert node.attr["value"].tensor.string_val[0].decode() == fitted_now.to_json()
    capsys.readouterr()
    before = graph.read_bytes()
    assert calibrate([*flags, "--report_only"]) == 0
    assert graph.read_bytes() == before


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--lm_alpha=1"], "--lm_alpha: needs --scorer"),
        (["--lm_beta=nan", "--scorer=none"], "--lm_beta=nan: must be a finite number"),
    ],
)
def test_wrong_weights_are_refused_before_a_file_is_read(
    flags: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert calibrate(["--model=none.pb", "--dev_files=none.csv", *flags]) == 1
    assert told in capsys.readouterr().err


def test_nothing_is_fitted_on_words_of_which_none_is_right(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = tmp_path / "output_graph.pb"
    graph.write_bytes(graph_file.read_bytes())
    dev = write_tiny_corpus(tmp_path / "corpus", 0, 0, 60, seed=7).test
    rows = [line.rpartition(",")[0] for line in dev.read_text().splitlines()[1:]]
    dev.write_text("wav_filename,wav_filesize,transcript\n" + "".join(f"{row},dede\n" for row in rows))
    assert calibrate([f"--model={graph}", f"--dev_files={dev}"]) == 1
    assert "words that were recognized is right; check that the transcripts are" in capsys.readouterr().err
    assert graph.read_bytes() == graph_file.read_bytes()


def test_a_calibration_is_fitted_on_a_single_recording(
    graph_file: Path, recordings: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = tmp_path / "output_graph.pb"
    graph.write_bytes(graph_file.read_bytes())
    spoken = np.concatenate([soundfile.read(path)[0] for path in recordings] * 10)
    soundfile.write(tmp_path / "speech.wav", spoken, 16_000)
    text = Model(graph).candidates(read_audio(tmp_path / "speech.wav", 16_000))[0].text
    dev = tmp_path / "dev.csv"
    dev.write_text(f"wav_filename,wav_filesize,transcript\nspeech.wav,1,{' '.join(text.split())}\n")
    assert calibrate([f"--model={graph}", f"--dev_files={dev}"]) == 0
    assert " words, 100.0% right" in capsys.readouterr().out
    assert Model(graph).calibrations.acoustic != Calibrations().acoustic


@pytest.mark.parametrize(
    ("unit", "today"), [(Alphabet.unit, "天"), (Alphabet.unit, "今天"), (SyllableAlphabet.unit, "天")]
)
def test_texts_of_mandarin_that_are_right_count_as_right(
    unit: str, today: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoken = {"jin1": "金", "tian1": today, "ren2": "人", "shu1": "书", "shui3": "水"}
    alphabet: Alphabet = Alphabet(tuple(spoken.values()))
    if unit == SyllableAlphabet.unit:
        pytest.importorskip("pypinyin")
        alphabet = SyllableAlphabet.of(spoken)
    graph, recording = tmp_path / "output_graph.pb", tmp_path / "speech.wav"
    graph.write_bytes(serialized(untrained(*MODELS["lstm"], alphabet), ExportOptions(beam_width=8)))
    soundfile.write(recording, signal(60 * 16_000), 16_000)
    model, rows = Model(graph), ["wav_filename,wav_filesize,transcript,start,duration"]
    characters = 0
    for number in range(120):
        heard = model.candidates(read_audio(recording, 16_000, Part(number / 2, number / 2 + 0.5)))[0].text
        text = "".join(spoken.get(word, word) for word in heard.split(" "))
        characters += len(text.replace(" ", "").replace(today, "天"))
        rows.append(f"{recording},1,{text},{number / 2},0.5")
    (tmp_path / "dev.csv").write_text("\n".join(rows), encoding="utf-8")
    assert calibrate([f"--model={graph}", f"--dev_files={tmp_path / 'dev.csv'}", "--report_only"]) == 0
    assert f"{characters} words, 100.0% right" in capsys.readouterr().out


def test_a_model_that_keeps_no_calibration_is_refused_before_the_recordings_are_heard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in (("model.onnx", b""), ("model.TFLITE", b""), ("misnamed.pb", b"\x1c\0\0\0TFL3")):
        path = tmp_path / name
        path.write_bytes(content)
        assert calibrate([f"--model={path}", f"--dev_files={tmp_path / 'none.csv'}"]) == 1
        told = "calibrations are kept in graphs; give the .pb file of the same checkpoint"
        assert capsys.readouterr().err == f"deepspeech: {path}: {told}\n"


def test_dev_files_may_be_in_a_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    read = MagicMock(return_value=Corpus((), 16_000))
    monkeypatch.setenv("HOME", "/home/someone")
    replacements = {"is_loaded_as_graph": MagicMock(), "Model": MagicMock(), "front_end": MagicMock()}
    for name, replacement in {**replacements, "read_corpus": read}.items():
        monkeypatch.setattr(f"deepspeech.cli.confidence.calibrate.{name}", replacement)
    assert calibrate(["--model=output_graph.pb", "--dev_files=~/a.csv,b.csv", "--report_only"]) == 1
    assert list(read.call_args.args[0]) == [Path("/home/someone/a.csv"), Path("b.csv")]


def test_a_damaged_calibration_is_refused(graph_file: Path, tmp_path: Path) -> None:
    wrong = [Calibrations(Calibration(bias, 1, 1)).to_json().encode() for bias in (math.inf, math.nan, 10**400)]
    for text in (b"{", b'{"acoustic": {}}', *wrong):
        (tmp_path / "bad.pb").write_bytes(with_text(graph_file.read_bytes(), CALIBRATIONS_NODE, text))
        with pytest.raises(GraphError, match="calibration of its confidences is damaged"):
            Model(tmp_path / "bad.pb")
