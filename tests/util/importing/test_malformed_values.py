"""A row whose values are malformed is left out with its reason, and the others are imported."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trees import Import, tone, write

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing.formats.annotations.chat import read_chat
from deepspeech.util.importing.formats.annotations.subtitles import read_subtitles
from deepspeech.util.importing.formats.annotations.timed_lines import timed_lines
from deepspeech.util.importing.pipeline.records import Choices

ALL_TRAIN = Choices(split=(1, 0, 0))
HUGE = 10**400
DIGITS = "9" * 5000
LONG = f"{'x' * 300}.wav"


def gigaspeech(folder: Path, **wrong: Any) -> None:
    right = {"begin_time": 0, "end_time": 1, "text_tn": "YES", "subsets": ["{XS}"]}
    segments = [{**right, **wrong}, right] if wrong else [5, right]
    write(folder / "g.json", json.dumps({"audios": [{"path": "a.wav", "segments": segments}]}))


def lhotse(folder: Path, **wrong: Any) -> None:
    sources = [{"type": "file", "channels": [0], "source": "a.wav"}]
    write(folder / "recordings.jsonl", json.dumps({"id": "r", "sources": sources, "duration": 2.0}))
    right = {"id": "s", "recording_id": "r", "start": 0.0, "duration": 1.0, "channel": 0, "text": "yes"}
    write(folder / "supervisions.jsonl", "\n".join(map(json.dumps, ({**right, **wrong}, right))))


def with_segments(folder: Path, **wrong: Any) -> None:
    right = {"start": 0, "end": 1, "text": "yes"}
    write(folder / "a.json", json.dumps([{**right, **wrong}, right]))


def csv(folder: Path, **wrong: str) -> None:
    write(folder / "a.csv", f"wav_filename,wav_filesize,transcript\n{wrong['name']},1,no\na.wav,1,yes\n")


def table(folder: Path, **wrong: str) -> None:
    write(folder / "a.csv", f"file,text\n{wrong['name']},{wrong['text']}\na.wav,yes\n")


@pytest.mark.parametrize(
    ("name", "layout", "wrong", "reason"),
    [
        ("gigaspeech", gigaspeech, {}, "a segment that is no object"),
        ("gigaspeech", gigaspeech, {"end_time": HUGE}, "times that cannot be used"),
        ("gigaspeech", gigaspeech, {"begin_time": None}, "no begin_time or end_time"),
        ("lhotse", lhotse, {"start": HUGE}, "not as Lhotse writes it"),
        ("folder", with_segments, {"start": HUGE}, "a part whose times are no numbers"),
        ("lists", csv, {"name": "a\0.wav"}, "a name that no file can have"),
        ("lists", csv, {"name": LONG}, "File name too long"),
        ("table", table, {"name": LONG, "text": "no"}, "no recording of this name in the folder"),
    ],
)
def test_a_malformed_row_is_left_out(
    name: str, layout: Callable[..., None], wrong: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    folder = tmp_path / "corpus"
    tone(folder / "a.wav", 2)
    layout(folder, **wrong)
    done = Import(name, folder, tmp_path / "out", ALL_TRAIN)
    assert [row["transcript"].lower() for row in done.all_rows] == ["yes"]
    assert [*done.left_out.values()] == [reason]


def test_a_name_of_a_column_that_is_no_unicode_is_escaped(tmp_path: Path) -> None:
    tone(tmp_path / "a.wav")
    write(tmp_path / "a.jsonl", json.dumps({"audio_filepath": "a.wav", "text": "yes", "\ud800": "x"}))
    (row,) = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN).all_rows
    assert (row["transcript"], row["\\ud800"]) == ("yes", "x")


def test_a_long_transcript_that_ends_as_the_name_of_a_text_is_itself(tmp_path: Path) -> None:
    tone(tmp_path / "a.wav")
    said = f"{'open ' * 60}readme.txt"
    write(tmp_path / "a.csv", f"file,text\na.wav,{said}\n")
    assert Import("table", tmp_path, tmp_path / "out", ALL_TRAIN).transcripts == {"a.wav": said}


def test_a_table_whose_recordings_are_in_a_column_without_a_name_is_none(tmp_path: Path) -> None:
    tone(tmp_path / "a.wav")
    write(tmp_path / "a.csv", "text,speaker\nyes,ann,a.wav\n")
    with pytest.raises(ImportingError, match="no table"):
        Import("table", tmp_path, tmp_path / "out")


def test_a_link_of_thchs30_that_is_the_name_of_no_file_is_left_out(tmp_path: Path) -> None:
    for number, text in enumerate(("绿", "a\0.trn")):
        tone(tmp_path / "train" / f"A2_{number}.wav")
        write(tmp_path / "train" / f"A2_{number}.wav.trn", text)
    done = Import("thchs30", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert done.left_out == {"train/A2_1.wav": "its transcript cannot be read"}


@pytest.mark.parametrize("name", ["nchlt", "tuda_de"])
def test_xml_in_an_unknown_encoding_is_told(name: str, tmp_path: Path) -> None:
    tone(tmp_path / "a_1.wav")
    for file in ("a.xml", "a.trn.xml"):
        write(tmp_path / file, '<?xml version="1.0" encoding="UTF-99"?><a/>')
    with pytest.raises(ImportingError, match=r"UTF-99|no \*.xml with"):
        Import(name, tmp_path, tmp_path / "out")


def test_deeply_nested_json_is_malformed(tmp_path: Path) -> None:
    write(tmp_path / "g.json", '{"audios": [' + "[" * 100_000)
    with pytest.raises(ImportingError, match="malformed, or cut off"):
        Import("gigaspeech", tmp_path, tmp_path / "out")


def test_times_of_thousands_of_digits_are_beyond_every_recording(tmp_path: Path) -> None:
    chat = write(tmp_path / "a.cha", f"*A:\tyes \x150_1000\x15\n*A:\tno \x15{DIGITS}_{DIGITS}\x15\n")
    assert [segment.text for tier in read_chat(chat) for segment in tier.segments] == ["yes"]
    subtitles = write(tmp_path / "a.srt", f"1\n{DIGITS}:00:00,0 --> {DIGITS}:00:01,0\nno\n")
    assert [segment.start for tier in read_subtitles(subtitles) for segment in tier.segments] == [float("inf")]


@pytest.mark.parametrize("marks", ["[", "{", "<v a"])
def test_unclosed_marks_take_no_quadratic_time(marks: str, tmp_path: Path) -> None:
    begin = time.monotonic()
    timed_lines(f"[0.0,1.0]\tann\tx\tyes {marks * 30_000}")
    read_chat(write(tmp_path / "a.cha", f"*A:\tyes {marks * 30_000} \x150_1000\x15\n"))
    read_subtitles(write(tmp_path / "a.vtt", f"WEBVTT\n\n00:00.000 --> 00:01.000\n{marks * 30_000}\n"))
    assert time.monotonic() - begin < 2
