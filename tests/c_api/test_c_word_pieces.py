"""With models of word pieces, the library has the Python package's transcripts, with and without a scorer."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import soundfile
from client import ROOT, CModel, Library
from comparison import check_equal, check_words
from retold_corpus import write_unigrams
from untrained import FBANK, signal, untrained

from deepspeech import Model
from deepspeech.decoder import Scorer
from deepspeech.decoder.of_alphabet import load_scorer
from deepspeech.errors import ModelError
from deepspeech.export.frozen_graph import serialized
from deepspeech.options import ExportOptions
from deepspeech.util.output_units import WordPieceAlphabet
from deepspeech.util.output_units.making import word_pieces
from deepspeech.util.text import Alphabet

WORDS = ("abba", "abab", "a", "b", "cab", "bad", "cabbed", "dad")
TEXTS = ("abba abab a b", "cab bad cabbed dad", "a a b b abba cabbed", "dad dad bad cab cab") * 3
SAMPLES = np.asarray(signal(48_000) * 32767, np.int16)


@pytest.fixture(scope="module")
def alphabet() -> WordPieceAlphabet:
    return WordPieceAlphabet.of(word_pieces(TEXTS, 12))


@pytest.fixture
def graph(alphabet: WordPieceAlphabet, tmp_path: Path) -> Path:
    model = untrained({"network": "lstm", "lstm_layers": 1}, FBANK, alphabet)
    (tmp_path / "graph.pb").write_bytes(serialized(model, ExportOptions(beam_width=64)))
    return tmp_path / "graph.pb"


@pytest.fixture
def language_model(tmp_path: Path) -> Path:
    return write_unigrams(tmp_path / "lm.arpa", {word: -0.4 * len(word) for word in WORDS})


def test_texts_times_and_confidences_are_those_of_python(
    library: Library, graph: Path, alphabet: WordPieceAlphabet, language_model: Path, tmp_path: Path
) -> None:
    python = Model(graph)
    scorer = tmp_path / "lm.scorer"
    load_scorer(alphabet, language_model).write_package(scorer, 0.5, 1.0)
    with CModel(library, graph) as ours:
        assert len(python.stt(SAMPLES).split()) > 2
        check_equal(ours, python, SAMPLES)
        check_words(ours, python, SAMPLES)
        for model in (ours, python):
            model.enableExternalScorer(scorer)
        assert set(python.stt(SAMPLES).split()) <= set(WORDS)
        check_equal(ours, python, SAMPLES)
        check_words(ours, python, SAMPLES)
        before = python.stt(SAMPLES)
        for model in (ours, python):
            model.addHotWord("dad", 40.0)
        check_equal(ours, python, SAMPLES)
        assert python.stt(SAMPLES) != before


def test_a_language_model_without_spellings_is_refused(library: Library, graph: Path, language_model: Path) -> None:
    with CModel(library, graph) as ours, pytest.raises(RuntimeError, match=r"does not say .*scorer package"):
        ours.enableExternalScorer(language_model)


@pytest.mark.parametrize("letters", ["கு", "pieces"])
def test_a_language_model_of_characters_is_refused_for_labels_of_several_as_in_python(
    library: Library, alphabet: WordPieceAlphabet, letters: str, tmp_path: Path
) -> None:
    labels = alphabet if letters == "pieces" else Alphabet((" ", "a", "கு", "டு", "மு"))
    model = untrained({"network": "lstm", "lstm_layers": 1}, FBANK, labels)
    (tmp_path / "graph.pb").write_bytes(serialized(model, ExportOptions(beam_width=64)))
    characters = write_unigrams(tmp_path / "lm.arpa", dict.fromkeys(["<space>", "a", "b"], -0.5))
    Scorer.load((" ", "a", "b"), characters, characters=True).write_package(tmp_path / "lm.scorer", 1, 1)
    python = Model(tmp_path / "graph.pb")
    with CModel(library, tmp_path / "graph.pb") as ours:
        with pytest.raises(ModelError) as expected:
            python.enableExternalScorer(tmp_path / "lm.scorer")
        with pytest.raises(RuntimeError) as found:
            ours.enableExternalScorer(tmp_path / "lm.scorer")
        assert str(found.value) == f"0x2002: {expected.value}"


def test_the_example_tells_the_text_and_when_each_of_its_words_begins(
    environment: dict[str, str], graph: Path, tmp_path: Path
) -> None:
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config")
    asked = ["pkg-config", "--cflags", "--libs", "deepspeech"]
    flags = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True).stdout.split()
    program, recording = tmp_path / "transcribe", tmp_path / "recording.wav"
    subprocess.run(["cc", ROOT / "examples/c_api/c/transcribe.c", *flags, "-o", program], check=True)
    soundfile.write(recording, SAMPLES, 16_000)
    printed = subprocess.run([program, graph, recording], env=environment, capture_output=True, text=True, check=True)
    text, _, times = printed.stdout.splitlines()
    heard = Model(graph).transcribe(recording)
    assert text == heard.text
    assert times.split() == [f"{word.start:.2f}" for word in heard.words]
