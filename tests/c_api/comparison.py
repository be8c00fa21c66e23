"""Comparing what the library hears with what the Python package hears."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from client import CModel, Samples

from deepspeech import Model

ROUNDING = 1e-3
"""Of confidences: both compute with floats, but not in the same order."""


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
