"""JSON beside recordings, as programs and services that recognize speech write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from outputs_of_recognizers import FORMS, OF_CHANNELS, ONE, TWO, WITH_SPEAKERS, items_of_aws, words
from trees import Import, tone, write

from deepspeech.util.importing.formats.annotations.recognizers.rows import Timed
from deepspeech.util.importing.formats.annotations.recognizers.rows import in_seconds as in_seconds_if_ms
from deepspeech.util.importing.formats.annotations.recognizers.words import LONGEST, utterances_of
from deepspeech.util.importing.pipeline.records import Choices


def imported(folder: Path, value: Any, *, channels: int = 1) -> list[tuple[str, str, str, str]]:
    """Return the transcript, speaker, clip and duration of each row of a recording of 9 seconds."""
    tone(folder / "a.wav", 9, channels)
    write(folder / "a.json", json.dumps(value))
    done = Import("folder", folder, folder.with_name("out"), Choices(split=(1, 0, 0)))
    assert not done.left_out
    return [
        (row["transcript"], row["speaker"], Path(row["wav_filename"]).stem, row["duration"]) for row in done.all_rows
    ]


@pytest.mark.parametrize("form", FORMS)
def test_recordings_are_cut_at_segments_or_pauses_between_words(form: str, tmp_path: Path) -> None:
    rows = imported(tmp_path / "corpus", FORMS[form])
    assert rows == [(ONE, "", "00000200-00001000", "0.800"), (TWO, "", "00002000-00002800", "0.800")]


@pytest.mark.parametrize("form", WITH_SPEAKERS)
def test_speakers_of_recognizers_are_others_in_each_recording(form: str, tmp_path: Path) -> None:
    value, speakers = WITH_SPEAKERS[form]
    rows = imported(tmp_path / "corpus", value)
    assert [row[:3] for row in rows] == [
        (ONE, f"a-{speakers[0]}", "00000200-00001000"),
        (TWO, f"a-{speakers[1]}", "00002000-00002800"),
    ]


def test_a_short_text_with_words_stays_whole(tmp_path: Path) -> None:
    value = {"text": "Good morning, how so", "words": words(unit=0.001)}
    assert imported(tmp_path / "corpus", value) == [("Good morning, how so", "", "a", "9.000")]


@pytest.mark.parametrize(
    "value",
    [
        [{"key": "a", "text": ONE, "timestamp": [[200, 600], [700, 1000]]}],  # FunASR's without a model of speakers
        {"RecognitionStatus": "Success", "Offset": 2000000, "Duration": 8000000, "DisplayText": ONE},  # Azure's of one
    ],
)
def test_a_text_without_times_of_its_own_is_that_of_the_recording(value: Any, tmp_path: Path) -> None:
    assert imported(tmp_path / "corpus", value) == [(ONE, "", "a", "9.000")]


def test_words_of_a_channel_are_read_once_and_apart_from_the_other_channel(tmp_path: Path) -> None:
    items = [{**item, "channel_label": f"ch_{number % 2}"} for number, item in enumerate(items_of_aws()[:-1])]
    for item in items:
        del item["speaker_label"]
    channels = [{"channel_label": f"ch_{side}", "items": items[side::2]} for side in (0, 1)]
    value = {"results": {"channel_labels": {"channels": channels}, "items": items}}
    rows = imported(tmp_path / "corpus", value, channels=2)
    assert sorted((row[0], row[2]) for row in rows) == [
        ("good", "00000200-00000600-channel-0"),
        ("how", "00002000-00002300-channel-0"),
        ("morning", "00000700-00001000-channel-1"),
        ("so", "00002400-00002800-channel-1"),
    ]


@pytest.mark.parametrize("form", OF_CHANNELS)
def test_what_is_said_on_a_channel_is_cut_out_of_it(form: str, tmp_path: Path) -> None:
    rows = imported(tmp_path / "corpus", OF_CHANNELS[form], channels=2)
    assert [(row[0], row[2]) for row in rows] == [
        (ONE, "00000200-00001000-channel-0"),
        (TWO, "00002000-00002800-channel-1"),
    ]


def test_one_channel_is_all_of_the_recording(tmp_path: Path) -> None:
    value = {"utterances": [{"start": 0.2, "end": 1.0, "channel": 0, "transcript": ONE}]}
    assert [row[2] for row in imported(tmp_path / "corpus", value, channels=2)] == ["00000200-00001000"]


def test_long_segments_are_cut_by_the_words_that_aws_has_apart(tmp_path: Path) -> None:
    items = [{"id": number, **item} for number, item in enumerate(items_of_aws()[:-1])]
    segment = {"transcript": "all", "start_time": "0.2", "end_time": "32.8", "items": [0, 1, 2, 3, None, [4]]}
    rows = imported(tmp_path / "corpus", {"results": {"items": items, "audio_segments": [segment]}})
    assert [row[:2] for row in rows] == [(ONE, "a-spk_0"), (TWO, "a-spk_1")]


def test_a_segment_may_lack_its_end(tmp_path: Path) -> None:
    value = {"segments": [{"start": 0.5, "text": ONE}, {"start": 2.0, "end": float("nan"), "text": TWO}]}
    assert [row[2] for row in imported(tmp_path / "corpus", value)] == ["00000500-00002000", "00002000-00009000"]


def test_alternatives_that_are_no_list_are_passed_over(tmp_path: Path) -> None:
    value = {"text": ONE, "results": [{"alternatives": 1}, {"nBest": {"a": None}}], "alternatives": {"b": 2}}
    assert imported(tmp_path / "corpus", value) == [(ONE, "", "a", "9.000")]


def test_whole_seconds_are_no_milliseconds() -> None:
    for text, end in (("no", 4), ("ok", 30)):
        assert in_seconds_if_ms([Timed(text, 0, float(end))]) == [Timed(text, 0, end)]
    assert in_seconds_if_ms([Timed("characteristically", 0, 600.0)]) == [Timed("characteristically", 0, 0.6)]


def test_words_become_utterances_of_half_a_minute_at_most() -> None:
    said = [Timed(f"w{number}", float(number), number + 1.0) for number in range(65)]
    utterances = utterances_of(said)
    assert [each.text for each in utterances][-1] == "w60 w61 w62 w63 w64"
    assert all(each.end is not None and each.end - (each.start or 0) <= LONGEST for each in utterances)


def test_punctuation_and_words_without_times_belong_to_the_words_before_them() -> None:
    said = [Timed("How", 0, 0.2), Timed(" ", None, None), Timed("so", None, None), Timed("?", 0.2, 0.2)]
    assert utterances_of([*said, Timed("Yes", 0.3, 0.5)]) == [Timed("How so?", 0, 0.2), Timed("Yes", 0.3, 0.5)]


@pytest.mark.parametrize(
    "value",
    [
        {"파일정보": {"FileName": "a.wav"}, "화자정보": {"SpeakerId": "kim"}, "전사정보": {"TransLabelText": ONE}},
        {"info": {"speaker": {"speaker_id": "kim"}}, "data": {"script": {"id": 7, "text": ONE}}},
    ],
)
def test_a_text_may_be_some_levels_down_in_a_parallel_folder(value: Any, tmp_path: Path) -> None:
    tone(tmp_path / "corpus" / "Training" / "원천데이터" / "A" / "a.wav")
    write(tmp_path / "corpus" / "Training" / "라벨링데이터" / "A" / "a.json", json.dumps(value))
    done = Import("folder", tmp_path / "corpus", tmp_path / "out", Choices(split=(1, 0, 0)))
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [(ONE, "kim")]
