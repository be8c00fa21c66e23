"""JSON beside recordings, as programs and services that recognize speech write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trees import Import, tone, write

from deepspeech.util.importing.formats.annotations.recognizers.rows import Timed
from deepspeech.util.importing.formats.annotations.recognizers.rows import in_seconds as in_seconds_if_ms
from deepspeech.util.importing.formats.annotations.recognizers.words import LONGEST, utterances_of
from deepspeech.util.importing.pipeline.records import Choices

WORDS = (("good", 0.2, 0.6), ("morning", 0.7, 1.0), ("how", 2.0, 2.3), ("so", 2.4, 2.8))
ONE, TWO = "good morning", "how so"


def imported(folder: Path, value: Any, name: str = "a.json") -> list[tuple[str, str, str, str]]:
    """Return the transcript, speaker, clip and duration of each row of a recording of 9 seconds."""
    tone(folder / "a.wav", 9)
    write(folder / name, json.dumps(value))
    done = Import("folder", folder, folder.with_name("out"), Choices(split=(1, 0, 0)))
    assert not done.left_out
    return [
        (row["transcript"], row["speaker"], Path(row["wav_filename"]).stem, row["duration"]) for row in done.all_rows
    ]


def words(text: str = "word", start: str = "start", end: str = "end", unit: float = 1) -> list[dict[str, Any]]:
    return [{text: word, start: round(begin / unit), end: round(stop / unit)} for word, begin, stop in WORDS]


def in_seconds(first: int = 0) -> list[dict[str, Any]]:
    return [{"word": word, "start": begin, "end": stop} for word, begin, stop in WORDS[first : first + 2]]


def items_of_aws() -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for number, (word, begin, stop) in enumerate(WORDS):
        times = {"start_time": str(begin), "end_time": str(stop), "speaker_label": f"spk_{number // 2}"}
        items.append({"type": "pronunciation", "alternatives": [{"content": word}], **times})
    return [*items, {"type": "punctuation", "alternatives": [{"content": "?"}]}]


def elements_of_rev(turn: int) -> list[dict[str, Any]]:
    first, second = (
        {"type": "text", "value": word, "ts": begin, "end_ts": stop}
        for word, begin, stop in WORDS[2 * turn : 2 * turn + 2]
    )
    return [first, {"type": "punct", "value": " "}, second]


def without_text(item: dict[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in ("start_time", "end_time", "speaker_label")}


def result_of_google(first: int, end: int, text: str = "", *, speakers: bool = True) -> dict[str, Any]:
    said = [
        {"startTime": f"{begin}s", "endTime": f"{stop}s", "word": word, "speakerTag": (1 + number // 2) * speakers}
        for number, (word, begin, stop) in enumerate(WORDS)
    ]
    return {"alternatives": [{"words": said[first:end], **({"transcript": text} if text else {})}]}


FORMS: dict[str, Any] = {
    "whisper.cpp": {
        "transcription": [
            {"timestamps": {"from": "00:00:00,200"}, "offsets": {"from": 200, "to": 1000}, "text": f" {ONE}"},
            {"offsets": {"from": 2000, "to": 2800}, "text": f" {TWO}"},
        ]
    },
    "transformers": {
        "text": "all",
        "chunks": [{"timestamp": [0.2, 1.0], "text": ONE}, {"timestamp": [2.0, 2.8], "text": TWO}],
    },
    "Vosk": [{"result": in_seconds(), "text": ONE}, {"result": in_seconds(2), "text": TWO}, {"text": ""}],
    "Google": {
        "results": [
            {
                "alternatives": [
                    {"transcript": ONE, "words": [{"startTime": "0.200s", "endTime": "1s", "word": ONE}]},
                    {"transcript": "wrong"},
                ],
                "resultEndTime": "1.5s",
            },
            {"alternatives": [{"transcript": TWO, "words": [{"startOffset": "2s", "endOffset": "2.8s", "word": TWO}]}]},
        ]
    },
    "Deepgram": {
        "results": {"channels": [{"alternatives": [{"transcript": "all", "words": in_seconds() + in_seconds(2)}]}]}
    },
    "Azure": {
        "combinedRecognizedPhrases": [{"display": "all"}],
        "recognizedPhrases": [
            {"offset": "", "duration": "", "offsetInTicks": 2e6, "durationInTicks": 8e6, "nBest": [{"display": ONE}]},
            {"offset": "PT2S", "duration": "PT0.8S", "nBest": [{"display": TWO}]},
        ],
    },
}

WITH_SPEAKERS: dict[str, tuple[Any, tuple[str, str]]] = {
    "AWS": ({"results": {"transcripts": [{"transcript": "all"}], "items": items_of_aws()[:-1]}}, ("spk_0", "spk_1")),
    "AWS, before words had speakers": (
        {
            "results": {
                "speaker_labels": {"speakers": 2, "segments": [{"items": [*map(without_text, items_of_aws()[:-1])]}]},
                "items": [
                    {name: fact for name, fact in item.items() if name != "speaker_label"}
                    for item in items_of_aws()[:-1]
                ],
            }
        },
        ("spk_0", "spk_1"),
    ),
    "Google": ({"results": [result_of_google(0, 4, "good morning how so")]}, ("1", "2")),
    "Google, a speaker in each result": (
        {"results": [result_of_google(0, 2, ONE), result_of_google(2, 4, TWO)]},
        ("1", "2"),
    ),
    "Google, words of all results in the last": (
        {
            "results": [
                result_of_google(0, 3, "good morning how", speakers=False),
                result_of_google(3, 4, "so", speakers=False),
                result_of_google(0, 4),
            ]
        },
        ("1", "2"),
    ),
    "Azure, fast": (
        {
            "phrases": [
                {"speaker": 1, "offsetMilliseconds": 200, "durationMilliseconds": 800, "text": ONE},
                {"speaker": 2, "offsetMilliseconds": 2000, "durationMilliseconds": 800, "text": TWO},
            ]
        },
        ("1", "2"),
    ),
    "FunASR": (
        [
            {
                "key": "a",
                "text": "all",
                "timestamp": [],
                "sentence_info": [
                    {"text": ONE, "start": 200, "end": 1000, "timestamp": [[200, 600], [700, 1000]], "spk": 0},
                    {"text": TWO, "start": 2000, "end": 2800, "timestamp": [[2000, 2300], [2400, 2800]], "spk": 1},
                ],
            }
        ],
        ("0", "1"),
    ),
    "AssemblyAI": (
        {
            "text": "all",
            "utterances": [
                {"start": 200, "end": 1000, "text": ONE, "speaker": "A"},
                {"start": 2000, "end": 2800, "text": TWO, "speaker": "B"},
            ],
        },
        ("A", "B"),
    ),
    "Rev AI": (
        {
            "monologues": [
                {"speaker": number, "elements": elements_of_rev(number), "speaker_info": {}} for number in range(2)
            ]
        },
        ("0", "1"),
    ),
    "Speechmatics": (
        {
            "results": [
                {
                    "type": "word",
                    "start_time": begin,
                    "end_time": stop,
                    "alternatives": [{"content": word, "speaker": f"S{1 + number // 2}"}],
                }
                for number, (word, begin, stop) in enumerate(WORDS)
            ]
        },
        ("speaker 1", "speaker 2"),
    ),
}


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
    rows = imported(tmp_path / "corpus", {"results": {"channel_labels": {"channels": channels}, "items": items}})
    assert sorted((row[0], row[2]) for row in rows) == [
        ("good", "00000200-00000600"),
        ("how", "00002000-00002300"),
        ("morning", "00000700-00001000"),
        ("so", "00002400-00002800"),
    ]


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
