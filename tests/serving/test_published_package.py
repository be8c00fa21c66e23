"""A program written for DeepSpeech 0.9.3's Python package runs unchanged."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

import deepspeech
from deepspeech import Model
from deepspeech.errors import DeepSpeechError


def samples_of(path: Path) -> npt.NDArray[np.int16]:
    return np.asarray(soundfile.read(path, dtype="int16")[0])


def streamed(model: Model, samples: npt.NDArray[np.int16], size: int) -> str:
    stream = model.createStream()
    for start in range(0, len(samples), size):
        stream.feedAudioContent(samples[start : start + size])
    return stream.finishStream()


def test_settings_are_read_and_written(graph_file: Path, scorer_file: Path) -> None:
    model = Model(str(graph_file))
    assert model.sampleRate() == 16_000
    assert model.beamWidth() == 32
    assert model.setBeamWidth(20) == 0
    assert model.beamWidth() == 20
    assert model.disableExternalScorer() != 0
    assert model.setScorerAlphaBeta(1.0, 1.0) != 0
    model.enableExternalScorer(str(scorer_file))
    assert model.setScorerAlphaBeta(0.5, 1.0) == 0
    assert model.disableExternalScorer() == 0
    assert isinstance(deepspeech.version(), str)


def test_speech_becomes_text(model: Model, recordings: list[Path]) -> None:
    texts = [model.stt(samples_of(path)) for path in recordings]
    assert all(isinstance(text, str) for text in texts)
    assert all(set(text) <= set(" abcde") for text in texts) and any(texts)


def test_metadata_spell_the_text_and_tell_its_times(model: Model, recordings: list[Path]) -> None:
    samples = samples_of(recordings[0])
    metadata = model.sttWithMetadata(samples, 3)
    assert 1 <= len(metadata.transcripts) <= 3
    best = metadata.transcripts[0]
    assert "".join(token.text for token in best.tokens) == model.stt(samples)
    assert best.confidence >= metadata.transcripts[-1].confidence
    timesteps = [token.timestep for token in best.tokens]
    assert timesteps == sorted(timesteps) and timesteps[-1] * 320 < len(samples) + 512
    assert all(token.start_time == pytest.approx(token.timestep * 0.02) for token in best.tokens)
    assert len(model.sttWithMetadata(samples).transcripts) == 1


@pytest.mark.parametrize("size", [1, 320, 5000])
def test_streams_hear_what_whole_files_do(model: Model, recordings: list[Path], size: int) -> None:
    samples = samples_of(recordings[1])[: 8000 if size == 1 else None]
    assert streamed(model, samples, size) == model.stt(samples)


def test_a_stream_tells_what_it_has_heard_so_far(model: Model, recordings: list[Path]) -> None:
    samples = samples_of(recordings[2])
    stream = model.createStream()
    assert stream.intermediateDecode() == ""
    stream.feedAudioContent(samples)
    so_far = stream.intermediateDecode()
    assert stream.intermediateDecodeWithMetadata(2).transcripts[0].tokens[0].text == so_far[0]
    assert stream.intermediateDecodeFlushBuffers() == so_far
    assert len(stream.intermediateDecodeWithMetadataFlushBuffers(2).transcripts) == 2
    metadata = stream.finishStreamWithMetadata(2)
    assert "".join(token.text for token in metadata.transcripts[0].tokens) == model.stt(samples)
    with pytest.raises(RuntimeError, match="ended"):
        stream.freeStream()


def test_a_freed_stream_is_of_no_more_use(model: Model) -> None:
    stream = model.createStream()
    stream.freeStream()
    for method in ("intermediateDecode", "intermediateDecodeWithMetadata", "finishStream", "finishStreamWithMetadata"):
        with pytest.raises(RuntimeError, match="ended"):
            getattr(stream, method)()
    with pytest.raises(RuntimeError, match="ended"):
        stream.feedAudioContent(np.zeros(100, np.int16))


def test_streams_of_one_model_run_at_once(model: Model, recordings: list[Path]) -> None:
    audio = [samples_of(path) for path in recordings]
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(lambda samples: streamed(model, samples, 700), audio))
    assert at_once == [model.stt(samples) for samples in audio]


def test_hot_words_need_a_scorer_and_change_what_is_heard(graph_file: Path, scorer_file: Path) -> None:
    model = Model(graph_file)
    for method, arguments in (("addHotWord", ("abc", 5.0)), ("eraseHotWord", ("abc",)), ("clearHotWords", ())):
        with pytest.raises(RuntimeError, match="scorer"):
            getattr(model, method)(*arguments)
    model.enableExternalScorer(scorer_file)
    noise = np.random.default_rng(3).normal(0, 2000, 16000).astype(np.int16)
    model.addHotWord("eee", 200.0)
    assert "eee" in model.stt(noise).split()
    with pytest.raises(RuntimeError, match="'eee'"):
        model.addHotWord("eee", 1.0)
    model.eraseHotWord("eee")
    with pytest.raises(RuntimeError, match="'eee'"):
        model.eraseHotWord("eee")
    model.addHotWord("a", 1.0)
    model.clearHotWords()


def test_hot_words_that_cannot_be_spelled_are_taken_and_have_no_effect(
    graph_file: Path, scorer_file: Path, recordings: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    model = Model(graph_file)
    model.enableExternalScorer(scorer_file)
    before = model.stt(samples_of(recordings[0]))
    for word in ("xyz", "a xyz", "Axe", "grüße", "", " ", "<s>", "\ud800"):
        caplog.clear()
        model.addHotWord(word, 50.0)
        assert repr(word) in caplog.text
        with pytest.raises(RuntimeError, match="added before"):
            model.addHotWord(word, 1.0)
    assert model.stt(samples_of(recordings[0])) == before
    model.eraseHotWord("grüße")
    for wrong in (float("nan"), float("inf"), "1", None):
        with pytest.raises(RuntimeError, match="'b'"):
            model.addHotWord("b", wrong)  # type: ignore[arg-type]
    model.clearHotWords()


def test_a_phrase_is_boosted_as_a_whole(graph_file: Path, scorer_file: Path) -> None:
    model = Model(graph_file)
    model.enableExternalScorer(scorer_file)
    noise = np.random.default_rng(3).normal(0, 2000, 16000).astype(np.int16)
    before = model.stt(noise)
    model.addHotWord("ee dab ee", 300.0)
    assert "ee dab ee" in model.stt(noise)
    model.eraseHotWord("ee dab ee")
    assert model.stt(noise) == before


def test_hot_words_of_a_stream_are_its_own(graph_file: Path, scorer_file: Path) -> None:
    model = Model(graph_file)
    with pytest.raises(RuntimeError, match="need a scorer"):
        model.stream(hot_words={"eee": 200.0})
    model.enableExternalScorer(scorer_file)
    noise = np.random.default_rng(3).normal(0, 2000, 16000).astype(np.int16)
    before = model.stt(noise)
    with model.stream(hot_words={"eee": 200.0}) as stream:
        stream.feed(noise)
        assert "eee" in stream.finish().text.split()
    assert model.stt(noise) == before
    model.set_hot_words({"eee": 200.0})
    assert "eee" in model.stt(noise).split()
    with model.stream(hot_words={}) as stream:
        stream.feed(noise)
        assert stream.finish().text == before


def test_many_hot_words_are_added_one_by_one_in_no_time(graph_file: Path, scorer_file: Path) -> None:
    model = Model(graph_file)
    model.enableExternalScorer(scorer_file)
    words = ["".join(letters) for letters in product("abcde", repeat=5)][:1000]
    begin = time.process_time()
    for word in words:
        model.addHotWord(word, 1.0)
    model.stt(np.zeros(1000, np.int16))
    assert time.process_time() - begin < 3


def test_audio_that_is_no_signal_is_refused(model: Model) -> None:
    for wrong, kind in (
        (np.zeros(100, np.float32), TypeError),
        ([0.5] * 100, TypeError),
        (b"\0" * 99, ValueError),
        (np.zeros((100, 2), np.int16), ValueError),
    ):
        with pytest.raises(kind) as caught:
            model.stt(wrong)  # type: ignore[arg-type]
        assert isinstance(caught.value, DeepSpeechError)
    with pytest.raises(RuntimeError, match="num_results"):
        model.sttWithMetadata(np.zeros(100, np.int16), 0)
    with pytest.raises(RuntimeError, match="beam_width"):
        model.setBeamWidth(0)


@pytest.mark.parametrize("count", [0, 1, 511, 512, 513])
def test_audio_shorter_than_a_frame_says_nothing_much(model: Model, count: int) -> None:
    assert isinstance(model.stt(np.zeros(count, np.int16)), str)


def test_a_scorer_that_is_missing_or_none_is_refused(graph_file: Path, tmp_path: Path) -> None:
    model = Model(graph_file)
    (tmp_path / "text.scorer").write_text("not a scorer")
    for name in ("missing.scorer", "text.scorer"):
        with pytest.raises(RuntimeError, match=name):
            model.enableExternalScorer(str(tmp_path / name))
    assert isinstance(model.stt(np.zeros(1000, np.int16)), str)


def test_neither_importing_nor_running_loads_tensorflow(graph_file: Path, recordings: list[Path]) -> None:
    program = (
        "import sys, deepspeech; assert 'numpy' not in sys.modules; import soundfile;"
        f"deepspeech.Model({str(graph_file)!r}).stt(soundfile.read({str(recordings[0])!r}, dtype='int16')[0]);"
        "assert 'tensorflow' not in sys.modules and 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
