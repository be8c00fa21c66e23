"""Many recordings at once have the same transcripts as each recording alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from deepspeech import Model
from deepspeech.errors import AudioError, ModelError, SamplesShapeError, SamplesTypeError
from deepspeech.serving.arguments.samples import Samples
from deepspeech.serving.batching import recordings as batches


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
