"""Many recordings at once have the same transcripts as each recording alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from deepspeech import Model
from deepspeech.errors import AudioError, ModelError, SamplesShapeError, SamplesTypeError
from deepspeech.serving.arguments.samples import Samples
from deepspeech.serving.batching import recordings as batches
from deepspeech.serving.long_audio import Part


@pytest.mark.parametrize(("seconds", "group"), [(0.5, 1 << 26), (60, 1 << 26), (60, 1), (60, 1 << 14)])
def test_many_recordings_have_the_transcripts_of_each(
    seconds: float, group: int, model: Model, recordings: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "SECONDS_TOGETHER", seconds)
    monkeypatch.setattr(batches, "LARGEST_GROUP", group)
    samples = np.asarray(soundfile.read(recordings[0], dtype="int16")[0])
    given: list[Path | Samples] = [*recordings, samples, samples[:0]]
    found = list(model.transcribe_many(given))
    assert [each.text for each in found[:-2]] == [
        model.stt(soundfile.read(path, dtype="int16")[0]) for path in recordings
    ]
    assert found[-2] == found[0]
    assert found[-1].words == () and len(found) == len(given)
    assert list(model.transcribe_many([])) == []


def test_results_come_while_no_more_seconds_are_held_than_are_computed_together(
    model: Model, recordings: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "SECONDS_TOGETHER", 0.1)
    begun: list[Path] = []

    def parts() -> Iterator[Iterable[Part]]:
        for path in recordings:
            begun.append(path)
            yield model.parts(path)

    taken = [len(begun) for _ in model.recognized(parts())]
    assert taken == [*range(2, len(recordings) + 1), len(recordings)]


@given(st.lists(st.integers(1, 9), min_size=1), st.integers(1, 30).map(lambda rows: 12 * rows))
def test_signals_are_decoded_in_groups_that_fit_when_padded_unless_one_alone_does_not(
    lengths: list[int], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "LARGEST_GROUP", most)
        groups = list(batches._alike([np.zeros((length, 3), np.float32) for length in lengths]))
    ordered = [number for group in groups for number in group]
    assert sorted(ordered) == list(range(len(lengths)))
    assert [lengths[number] for number in ordered] == sorted(lengths, reverse=True)
    sizes = [len(group) * 12 * lengths[group[0]] for group in groups]
    assert all(size <= most or len(group) == 1 for size, group in zip(sizes, groups, strict=True))
    assert all(size + 12 * lengths[group[0]] > most for size, group in zip(sizes[:-1], groups[:-1], strict=True))


def test_a_single_path_is_not_taken_for_recordings_named_by_its_letters(model: Model, recordings: list[Path]) -> None:
    for single in (str(recordings[0]), recordings[0]):
        with pytest.raises(ModelError, match="audio is a single path"):
            model.transcribe_many(single)  # type: ignore[arg-type]


def test_a_recording_that_cannot_be_read_is_named_at_its_turn(model: Model, recordings: list[Path]) -> None:
    missing = Path("missing.wav")
    results = list(model.recognized(model.parts(each) for each in (recordings[0], missing, recordings[1])))
    assert [result.error is None for result in results] == [True, False, True]
    assert results[2].parts[0][1][0].text == model.transcribe(recordings[1]).text


def test_more_candidates_than_the_search_keeps_are_all_of_them(model: Model, recordings: list[Path]) -> None:
    signal = soundfile.read(recordings[0], dtype="float32")[0]
    (result,) = model.recognized([model.parts(recordings[0])], count=(1 << 31) - 1)
    assert result.parts[0][1] == model.candidates(signal, (1 << 31) - 1)


def test_what_cannot_be_used_raises_at_its_turn_and_those_after_it_follow(model: Model, recordings: list[Path]) -> None:
    wrong: list[tuple[Any, type[Exception]]] = [
        (Path("missing.wav"), AudioError),
        ("https://example.org/a.wav", AudioError),
        (np.zeros(9, np.float32), SamplesTypeError),
        (np.zeros((2, 2), np.int16), SamplesShapeError),
    ]
    transcripts = model.transcribe_many([recordings[0], *(audio for audio, _ in wrong), recordings[1]])
    assert next(transcripts).text == model.transcribe(recordings[0]).text
    for _, error in wrong:
        with pytest.raises(error):
            next(transcripts)
    assert [each.text for each in transcripts] == [model.transcribe(recordings[1]).text]
