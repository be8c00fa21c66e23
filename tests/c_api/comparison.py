"""Comparing the library's transcripts with the Python package's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from client import CModel, Samples

from deepspeech import Model
from deepspeech.serving.transcripts import Transcript

ROUNDING = 1e-3
"""The tolerance of confidences: both compute with floats, but not in the same order."""


def samples_of(path: Path) -> Samples:
    return np.asarray(soundfile.read(path, dtype="int16")[0])


def check_equal(ours: CModel, python: Model, samples: Samples, count: int = 3, *, streams: bool = True) -> None:
    """Check that transcripts of samples, whole and streamed, are those of Python: texts, times and confidences."""
    expected = python.sttWithMetadata(samples, count).transcripts
    streamed = [ours.streamed(samples, 320, count)] if streams else []
    for transcripts in (ours.transcripts(samples, count), *streamed):
        assert len(transcripts) == len(expected)
        for (confidence, tokens), candidate in zip(transcripts, expected, strict=True):
            assert [(text, frame) for text, frame, _ in tokens] == [
                (token.text, token.timestep) for token in candidate.tokens
            ]
            seconds = [token.start_time for token in candidate.tokens]
            assert [start for *_, start in tokens] == pytest.approx(seconds)
            assert confidence == pytest.approx(candidate.confidence, abs=ROUNDING)
    assert ours.stt(samples) == python.stt(samples)


def check_words(ours: CModel, python: Model, samples: Samples, *, streams: bool = True) -> None:
    """Check that words, their times and their confidences are those of Python, whole and while a stream goes on."""
    whole = python.candidates(samples.astype(np.float32) / np.float32(32768), 3)
    check_transcripts(ours.candidates(samples, 3), whole)
    if streams:
        so_far, at_end = ours.streamed_words(samples, 3)
        check_transcripts(at_end, whole)
        with python.stream() as stream:
            stream.feed(samples)
            check_transcripts(so_far[:1], [stream.partial().transcript])


def check_transcripts(found: list[Transcript], expected: list[Transcript]) -> None:
    assert [each.text for each in found] == [each.text for each in expected]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.confidence == pytest.approx(theirs.confidence, abs=ROUNDING)
        assert [word.text for word in ours.words] == [word.text for word in theirs.words]
        for ours_word, word in zip(ours.words, theirs.words, strict=True):
            assert (ours_word.start, ours_word.end) == pytest.approx((word.start, word.end), abs=0.001)
            assert ours_word.confidence == pytest.approx(word.confidence, abs=ROUNDING)
