"""The most likely path through a transcript, against all possible paths."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepspeech.errors import AlignmentError
from deepspeech.serving.alignment import viterbi
from deepspeech.serving.alignment.viterbi import LabelSpans, align_labels
from deepspeech.util.text import outputs_needed

LABELS = 2
BLANK = LABELS


def posteriors_of(seed: int, frames: int, labels: int = LABELS) -> npt.NDArray[np.float32]:
    """Return random posteriors, float32 [frames, labels + 1], most of them of a few likely labels."""
    logits = np.random.default_rng(seed).normal(0, 3, (frames, labels + 1))
    exponentials = np.exp(logits)
    exponentials /= exponentials.sum(axis=1, keepdims=True)
    return np.asarray(exponentials, np.float32)


def path_of(spans: LabelSpans, labels: npt.NDArray[np.int32], frames: int, blank: int) -> list[int]:
    path = [blank] * frames
    for first, last, label in zip(spans.first, spans.last, labels, strict=True):
        path[first : last + 1] = [int(label)] * int(last - first + 1)
    return path


def collapsed(path: list[int] | tuple[int, ...], blank: int) -> list[int]:
    return [label for label, _ in groupby(path) if label != blank]


def assert_spans_are_in_order(spans: LabelSpans) -> None:
    assert np.all(spans.first <= spans.last)
    assert np.all(spans.last[:-1] < spans.first[1:])


@settings(max_examples=60)
@given(st.lists(st.integers(0, LABELS - 1), min_size=1, max_size=4), st.integers(0, 3), st.integers(0, 2**32))
def test_the_path_is_the_likeliest_of_all(transcript: list[int], spare: int, seed: int) -> None:
    labels = np.array(transcript, np.int32)
    frames = outputs_needed(labels) + spare
    posteriors = posteriors_of(seed, frames)
    logs = np.log(posteriors)
    spans = align_labels(posteriors, labels)
    scores = [
        sum(logs[frame, label] for frame, label in enumerate(path))
        for path in product(range(LABELS + 1), repeat=frames)
        if collapsed(path, BLANK) == transcript
    ]
    assert spans.path_score == pytest.approx(max(scores), rel=1e-5)
    assert_spans_are_in_order(spans)
    path = path_of(spans, labels, frames, BLANK)
    assert collapsed(path, BLANK) == transcript
    assert sum(logs[frame, label] for frame, label in enumerate(path)) == pytest.approx(spans.path_score, rel=1e-5)
    for first, last, label, score in zip(spans.first, spans.last, labels, spans.score, strict=True):
        assert score == pytest.approx(logs[first : last + 1, label].mean(), rel=1e-4)


@settings(max_examples=15)
@given(st.integers(1, 600), st.integers(0, 400), st.booleans(), st.integers(0, 2**32))
def test_a_band_finds_a_path_wherever_there_is_one(count: int, spare: int, spoken: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, count).astype(np.int32)
    frames = outputs_needed(labels) + spare
    posteriors = posteriors_of(seed, frames, labels=4)
    if spoken:  # the labels stand out where a path emits them
        path = path_of(align_labels(posteriors, labels), labels, frames, blank=4)
        posteriors = (0.3 * posteriors + 0.7 * np.eye(5)[path]).astype(np.float32)
    spans = align_labels(posteriors, labels, band=128)
    assert collapsed(path_of(spans, labels, frames, blank=4), 4) == labels.tolist()
    assert_spans_are_in_order(spans)
    if spoken:
        assert spans.path_score == pytest.approx(align_labels(posteriors, labels, band=count).path_score)


def test_a_band_that_is_left_is_widened() -> None:
    labels = np.arange(1000, dtype=np.int32) % 3
    path = np.concatenate([np.full(3000, 3), labels])  # blanks for a long time, then one label in each frame
    posteriors = (0.01 + 0.96 * np.eye(4)[path]).astype(np.float32)
    posteriors[:3000:7] = 0.25
    spans = align_labels(posteriors, labels, band=128)
    assert spans.first.tolist() == list(range(3000, 4000))


def test_the_band_is_widened_however_long_the_recording_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viterbi, "MOST_POINTERS", 30_000)  # fewer than a band of 128 needs
    said = np.random.default_rng(1).integers(0, 28, 700)
    path = np.stack([said, *[np.full(700, 28)] * 3], axis=1).ravel()
    posteriors = (0.01 + 0.71 * np.eye(29)[path]).astype(np.float32)
    transcript = np.concatenate([said[:300], said[400:]]).astype(np.int32)  # it lacks what is said in between
    spans = align_labels(posteriors, transcript, band=128)
    assert spans.path_score == pytest.approx(align_labels(posteriors, transcript, band=600).path_score)
    assert spans.first[400:].tolist() == list(range(4 * 500, 4 * 700, 4))


def test_a_narrow_band_reaches_the_end_of_a_transcript_that_just_fits() -> None:
    labels = (np.arange(192) % LABELS).astype(np.int32)
    spans = align_labels(np.full((192, LABELS + 1), 1 / 3, np.float32), labels, band=1)
    assert spans.first.tolist() == spans.last.tolist() == list(range(192))


def test_what_cannot_be_fitted_is_an_error() -> None:
    posteriors = posteriors_of(1, 3)
    with pytest.raises(AlignmentError, match="3 labels need 4 frames, and there are 3"):
        align_labels(posteriors, np.array([0, 0, 1], np.int32))
    with pytest.raises(AlignmentError, match="no labels"):
        align_labels(posteriors, np.zeros(0, np.int32))


def test_posteriors_of_zero_do_not_hinder() -> None:
    posteriors = np.eye(3, dtype=np.float32)[[2, 0, 0, 2, 2, 1]]
    spans = align_labels(posteriors, np.array([0, 1], np.int32))
    assert (spans.first.tolist(), spans.last.tolist(), spans.path_score) == ([1, 5], [2, 5], 0.0)
    assert align_labels(posteriors, np.array([1, 0], np.int32)).path_score < -80
