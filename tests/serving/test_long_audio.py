"""Recordings that are too long for one search: how they are split, and what it costs."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech import Model
from deepspeech.errors import AudioError, SamplesError
from deepspeech.serving.long_audio import (
    parts_of_blocks,
    parts_of_file,
)

RATE = 16_000


def test_what_is_short_stays_whole() -> None:
    samples = np.random.default_rng(0).normal(0, 0.1, 30 * RATE).astype(np.float32)
    (part,) = parts_of_blocks([samples], RATE)
    assert part.start == 0 and len(part.samples) == len(samples)
    (empty,) = parts_of_blocks([samples[:0]], RATE)
    assert len(empty.samples) == 0


@pytest.mark.parametrize("block", [1_000, 100_000, 10_000_000])
def test_cuts_are_in_pauses_and_nothing_is_lost(block: int) -> None:
    random = np.random.default_rng(1)
    samples = random.normal(0, 0.1, 100 * RATE).astype(np.float32)
    pauses = [(second, second + 0.6) for second in range(7, 100, 9)]
    for start, end in pauses:
        samples[int(start * RATE) : int(end * RATE)] *= 0.01
    parts = list(parts_of_blocks((samples[at : at + block] for at in range(0, len(samples), block)), RATE))
    np.testing.assert_array_equal(np.concatenate([part.samples for part in parts]), samples)
    for before, part in itertools.pairwise(parts):
        assert part.start == pytest.approx(before.start + len(before.samples) / RATE)
        assert len(before.samples) / RATE >= 10
        assert any(start + 0.19 < part.start < end - 0.19 for start, end in pauses)
    assert max(len(part.samples) for part in parts) <= 30 * RATE


def test_a_file_is_read_piece_by_piece_as_it_is_read_whole(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    samples = random.uniform(-0.5, 0.5, (44_100 * 4, 2))
    soundfile.write(tmp_path / "stereo.flac", samples, 44_100)
    (part,) = parts_of_file(tmp_path / "stereo.flac", RATE)
    assert len(part.samples) == 4 * RATE
    with pytest.raises(AudioError, match="missing"):
        list(parts_of_file(tmp_path / "missing.wav", RATE))


def test_words_of_a_long_recording_have_the_times_of_the_recording(
    model: Model, recordings: list[Path], tmp_path: Path
) -> None:
    spoken = np.asarray(soundfile.read(recordings[0], dtype="int16")[0])
    silence = np.zeros(9 * RATE, np.int16)
    samples = np.concatenate([spoken, silence, spoken, silence, spoken, silence, spoken, silence])
    soundfile.write(tmp_path / "long.wav", samples, RATE)
    transcript = model.transcribe(tmp_path / "long.wav")
    assert transcript == model.transcribe(samples)
    once = model.transcribe(spoken)
    assert once.text == model.stt(spoken)
    assert transcript.words[0] == replace(once.words[0], confidence=transcript.words[0].confidence)
    starts = [word.start for word in transcript.words]
    assert starts == sorted(starts)
    assert starts[0] < len(spoken) / RATE and starts[-1] > 3 * 9


def test_the_interface_of_today_streams_too(model: Model, recordings: list[Path]) -> None:
    spoken = np.asarray(soundfile.read(recordings[0], dtype="int16")[0])
    with model.stream() as stream:
        stream.feed(spoken[:5000])
        stream.feed(spoken[5000:])
        assert stream.transcript.text
        finished = stream.finish()
        assert stream.transcript == finished == model.transcribe(spoken)
    with pytest.raises(RuntimeError, match="ended"):
        stream.feed(spoken)
    with pytest.raises(SamplesError), model.stream() as other:
        other.feed(spoken.astype(np.float32))
