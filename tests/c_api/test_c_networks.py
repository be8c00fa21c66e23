"""With every network and all features, the library has the same transcripts as the Python package."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from client import CModel, Library, Samples
from comparison import check_equal, check_words
from retold_corpus import write_unigrams
from untrained import MODELS, WHOLE, signal, untrained

from deepspeech import Model
from deepspeech.decoder import Hypothesis
from deepspeech.errors import ModelError
from deepspeech.export.frozen_graph import serialized
from deepspeech.network import LayerNormalization
from deepspeech.options import ExportOptions
from deepspeech.util.output_units import ByteAlphabet
from deepspeech.util.text import Alphabet

ROUNDING_OF_INPUTS = 0.1
"""The tolerance of confidences: an input halfway between two rounded numbers may become either."""
LENGTHS = (0, 1, 79, 700, 24_013)


def exported(name: str, folder: Path, units: int = 16) -> Path:
    """Write the graph of a network with random weights and this many units in each layer."""
    flags, features = MODELS[name]
    content = serialized(untrained({**flags, "n_hidden": units}, features), ExportOptions(language="xx", beam_width=32))
    path = folder / f"{name}.pb"
    path.write_bytes(content)
    return path


def samples_of(length: int) -> Samples:
    return np.asarray(signal(length) * 32767, np.int16)


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_rounded_weights_hear_what_python_hears(precision: str, library: Library, tmp_path: Path) -> None:
    for name in ("lstm", "lstm_in_chunks", "conformer"):
        path = exported(name, tmp_path)
        python = Model(path, precision)
        with CModel(library, path, precision) as ours:
            found, expected = ours.candidates(samples_of(8000), 1), python.candidates(signal(8000), 1)
            assert found[0].text == expected[0].text
            assert found[0].confidence == pytest.approx(expected[0].confidence, abs=ROUNDING_OF_INPUTS)
    with pytest.raises(RuntimeError, match="0x4000: precision 'int4' is none of float32, bfloat16, int8, auto"):
        CModel(library, path, "int4")


@pytest.mark.parametrize("name", MODELS)
def test_the_library_hears_what_python_hears(name: str, library: Library, tmp_path: Path) -> None:
    path = exported(name, tmp_path)
    python, streams = Model(path), name not in WHOLE
    with CModel(library, path) as ours:
        for length in LENGTHS:
            check_equal(ours, python, samples_of(length), streams=streams)
        check_words(ours, python, samples_of(LENGTHS[-1]), streams=streams)
        if not streams:
            with pytest.raises(ModelError) as expected:
                python.createStream()
            with pytest.raises(RuntimeError) as found:
                ours.streamed(samples_of(700), 320)
            assert str(found.value) == f"0x4004: {expected.value}"


def test_words_end_with_the_audio_as_those_of_python_do(library: Library, tmp_path: Path) -> None:
    trained = untrained(*MODELS["lstm_in_shifted_chunks"])
    louder = replace(trained, weights={name: 2 * weights for name, weights in trained.weights.items()})
    path = tmp_path / "louder.pb"
    path.write_bytes(serialized(louder, ExportOptions(beam_width=32)))
    python = Model(path)
    with CModel(library, path) as ours:
        for length in range(1000, 8000, 500):
            check_words(ours, python, samples_of(length))


@pytest.mark.parametrize("name", ["deepspeech", "lstm", "bidirectional", "lstm_in_chunks"])
def test_lstms_may_have_any_number_of_units(name: str, library: Library, tmp_path: Path) -> None:
    for units in (5, 18, 24):
        path = exported(name, tmp_path, units)
        with CModel(library, path) as ours:
            check_equal(ours, Model(path), samples_of(8000), streams=name not in WHOLE)


def test_layers_may_have_names_that_other_programs_give_to_theirs(library: Library, tmp_path: Path) -> None:
    flags, features = MODELS["lstm"]
    trained = untrained(flags, features)
    renamed = [
        replace(layer, name=f"LayerNorm_{layer.name}") if isinstance(layer, LayerNormalization) else layer
        for layer in trained.network.layers
    ]
    weights = {
        (f"LayerNorm_{name}" if name.startswith("normalization") else name): value
        for name, value in trained.weights.items()
    }
    own = replace(trained, network=replace(trained.network, layers=tuple(renamed)), weights=weights)
    path = tmp_path / "own.pb"
    path.write_bytes(serialized(own, ExportOptions(beam_width=32)))
    with CModel(library, path) as ours:
        check_equal(ours, Model(path), samples_of(8000))


@pytest.fixture(scope="module")
def model_of_bytes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a graph that writes bytes of UTF-8, and a language model of characters for it."""
    folder = tmp_path_factory.mktemp("bytes")
    (folder / "bytes.pb").write_bytes(
        serialized(untrained(*MODELS["lstm"], ByteAlphabet()), ExportOptions(beam_width=32))
    )
    return folder / "bytes.pb", write_unigrams(folder / "characters.arpa", dict.fromkeys("aé€", -0.5))


def test_a_language_model_of_letters_scores_the_characters_of_bytes(
    library: Library, model_of_bytes: tuple[Path, Path]
) -> None:
    graph, characters = model_of_bytes
    python = Model(graph)
    with CModel(library, graph) as ours:
        for model in (python, ours):
            model.enableExternalScorer(characters)
        assert " " not in python.stt(samples_of(24_013))
        check_equal(ours, python, samples_of(24_013))


def test_a_character_of_several_bytes_is_one_token(library: Library, model_of_bytes: tuple[Path, Path]) -> None:
    graph, characters = model_of_bytes
    python = Model(graph)
    with CModel(library, graph) as ours:
        for model in (python, ours):
            model.enableExternalScorer(characters)
            model.setScorerAlphaBeta(1.0, 9.0)
        check_equal(ours, python, samples_of(24_013))
    tokens = [token.text for token in python.sttWithMetadata(samples_of(24_013)).transcripts[0].tokens]
    assert set(tokens) <= set("aé€") and "é" in tokens
    assert "".join(tokens) == python.stt(samples_of(24_013))


def test_a_stream_shows_a_character_once_all_its_bytes_are_there(
    library: Library, model_of_bytes: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, characters = model_of_bytes
    python = Model(graph)
    unfinished = 0
    with CModel(library, graph) as ours:
        for model in (python, ours):
            model.enableExternalScorer(characters)
            model.setScorerAlphaBeta(1.0, 9.0)
        for count in range(4_000, 24_000, 1_000):
            with python.stream() as stream:
                stream.feed(samples_of(count))
                shown = stream.partial().transcript.text
                monkeypatch.setattr(Hypothesis, "so_far", lambda hypothesis: hypothesis)
                all_bytes = stream.partial().transcript.text
                monkeypatch.undo()
            assert ours.streamed_words(samples_of(count), 1)[0][0].text == shown == all_bytes.rstrip("\ufffd")
            unfinished += shown != all_bytes
    assert unfinished


@pytest.mark.parametrize("labels", [" 今天气好", "กข็ีa", "ｱｶﾞｷﾟ", "ㇰㇱア", "12سِن", b"bytes"])
def test_texts_without_spaces_have_the_phrases_of_python(labels: str | bytes, library: Library, tmp_path: Path) -> None:
    alphabet = Alphabet(tuple(labels)) if isinstance(labels, str) else ByteAlphabet()
    path = tmp_path / "unspaced.pb"
    path.write_bytes(serialized(untrained(*MODELS["lstm"], alphabet), ExportOptions(beam_width=32)))
    samples = samples_of(300_000)
    samples[100_000:130_000] = 0
    python = Model(path)
    with CModel(library, path) as ours:
        if isinstance(labels, bytes):
            for model in (python, ours):
                model.enableExternalScorer(write_unigrams(tmp_path / "lm.arpa", dict.fromkeys("今กิ", -0.5)))
        check_words(ours, python, samples)
    words = python.candidates((samples / 32768).astype(np.float32))[0].words
    assert len(words) > 2 and len({word.confidence for word in words}) > 2
