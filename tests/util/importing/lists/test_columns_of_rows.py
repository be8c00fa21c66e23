"""What the columns of lists in general formats say of their rows: parts and channels of recordings, and sets."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.importing import format_of
from deepspeech.util.importing.columns_of_rows import with_columns
from deepspeech.util.importing.pipeline.columns import part_in
from deepspeech.util.importing.pipeline.records import SETS, Choices, Record

ALL_TRAIN = Choices(split=(1, 0, 0))

LISTS = {
    "json_lines": ("rows.jsonl", "audio_filepath", "text"),
    "audio_folder": ("metadata.jsonl", "file_name", "transcription"),
    "lists": ("rows.csv", "wav_filename", "transcript"),
    "table": ("rows.csv", "file", "text"),
}
"""The name of a list of each format, and its columns of recordings and texts."""


def write_list(folder: Path, form: str, header: str, *rows: str) -> None:
    """Write a list whose rows are `RECORDING,TEXT,…`, with further columns of this header."""
    name, *columns = LISTS[form]
    names = [*columns, *header.split(",")]
    if name.endswith(".csv"):
        write(folder / name, "\n".join([",".join(names), *rows]))
    else:
        fields = ([int(field) if field.isdecimal() else field for field in row.split(",")] for row in rows)
        write(folder / name, "\n".join(json.dumps(dict(zip(names, values, strict=True))) for values in fields))


@pytest.mark.parametrize("form", LISTS)
@pytest.mark.parametrize("header", ["begin,end,channel", "start_ms,duration,channel"])
def test_rows_of_a_shared_recording_are_its_parts_on_their_channels(form: str, header: str, tmp_path: Path) -> None:
    tone(tmp_path / "call.wav", 4, channels=2)
    tone(tmp_path / "own.wav", 1)
    times = ("1,2", "2,3") if "end" in header else ("1000,1", "2000,1")
    rows = [f"call.wav,yes,{times[0]},0", f"call.wav,no,{times[1]},1", "own.wav,maybe so,0,1,1"]
    write_list(tmp_path, form, header, *rows)
    if form != "lists":
        assert format_of(tmp_path, Choices()) in (form, "lists")
    done = Import(form, tmp_path, tmp_path / "out", ALL_TRAIN)
    assert [(row["transcript"], row["duration"]) for row in done.all_rows] == [
        *(("yes", "1.000"), ("no", "1.000"), ("maybe so", "1.000")),
    ]
    assert [done.samples(row)[1] for row in done.all_rows] == [1, 1, 1]
    assert [Path(row["wav_filename"]).name.partition("-channel-")[2] for row in done.all_rows] == [
        "0.flac",
        "1.flac",
        "",
    ]
    assert [set(done.samples(row)[0]) for row in done.all_rows[:2]] == [{200}, {300}]


@pytest.mark.parametrize(("first", "second"), [("A", "B"), ("1", "2"), ("left", "right"), ("L", "R")])
def test_channels_are_counted_from_one_without_a_zero_or_are_named(first: str, second: str, tmp_path: Path) -> None:
    tone(tmp_path / "call.wav", channels=2)
    write_list(tmp_path, "lists", "channel", f"call.wav,yes,{first}", f"call.wav,no,{second}")
    done = Import("lists", tmp_path, tmp_path / "out", ALL_TRAIN)
    names = {row["transcript"]: Path(row["wav_filename"]).name for row in done.all_rows}
    assert names == {"yes": "whole-channel-0.flac", "no": "whole-channel-1.flac"}


def test_a_column_of_channels_may_say_something_else(tmp_path: Path) -> None:
    tone(tmp_path / "call.wav", channels=2)
    write_list(tmp_path, "lists", "channel", "call.wav,yes,near", "call.wav,no,far")
    done = Import("lists", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert {Path(row["wav_filename"]).name for row in done.all_rows} == {"call.wav"}


def test_of_several_columns_the_first_with_a_text_counts(tmp_path: Path) -> None:
    tone(tmp_path / "call.wav", channels=2)
    header = "channel,channel_id,set,split"
    write_list(tmp_path, "lists", header, "call.wav,yes,,1,,test", "call.wav,no,,2,test,train")
    done = Import("lists", tmp_path, tmp_path / "out")
    names = {row["transcript"]: Path(row["wav_filename"]).name for row in done.rows("test")}
    assert names == {"yes": "whole-channel-0.flac", "no": "whole-channel-1.flac"}


def test_parts_and_channels_that_records_have_already_stay_and_no_warning_is_repeated(
    caplog: pytest.LogCaptureFixture,
) -> None:
    columns = [{"begin": f"{begin}", "duration": "1", "channel": f"{begin % 2}"} for begin in range(4)]
    record = Record("/call.wav", "yes", "list:1")

    def read() -> Iterator[Record]:
        logging.getLogger("deepspeech.util.importing").warning("once")
        yield record._replace(columns=columns[1])
        yield record._replace(columns=columns[2], start=7.0)
        yield record._replace(columns=columns[3], duration=7.0)
        yield record._replace(columns=columns[3], channel=0)

    found = [each for each in with_columns(read) if isinstance(each, Record)]
    assert [(each.start, each.duration, each.channel) for each in found] == [
        *((1.0, 1.0, 1), (7.0, None, 0), (0.0, 7.0, 1), (3.0, 1.0, 0)),
    ]
    assert caplog.messages == ["once"]


def test_a_recording_of_one_channel_or_of_one_row_stays_as_it_is(tmp_path: Path) -> None:
    rows = ["0.wav,zero,0,1,0", "0.wav,one,1,1,0", "1.wav,two,0,1,1", "1.wav,three,1,1,1", "clip.wav,four,70,1,0"]
    for name in ("0", "1", "clip"):
        tone(tmp_path / f"{name}.wav", 2)
    write_list(tmp_path, "json_lines", "begin,duration,channel", *rows)
    done = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert [(row["transcript"], row["duration"]) for row in done.all_rows] == [
        *(("zero", "1.000"), ("one", "1.000"), ("two", "1.000"), ("three", "1.000"), ("four", "2.000")),
    ]


@pytest.mark.parametrize("form", LISTS)
def test_a_column_names_the_set_of_each_row(form: str, tmp_path: Path) -> None:
    rows = [f"{tone(tmp_path / f'{name}.wav').name},the {name} set,{name}" for name in ("train", "validation", "test")]
    write_list(tmp_path, form, "split", *rows)
    done = Import(form, tmp_path, tmp_path / "out")
    assert [{row["transcript"] for row in done.rows(name)} for name in SETS] == [
        *({"the train set"}, {"the validation set"}, {"the test set"}),
    ]


@pytest.mark.parametrize(
    ("texts", "part"),
    [
        ({"start": "1.2345", "duration": "0.5", "end": "9"}, (1.2345, 0.5)),
        ({"start_ms": "4004", "duration_milliseconds": "500"}, (4.004, 0.5)),
        ({"start_sec": "1", "end_seconds": "3"}, (1.0, 2.0)),
        ({"start": "1.5"}, (1.5, None)),
        ({"duration": "3", "end": "3"}, (0.0, None)),
    ],
)
def test_a_part_begins_at_its_start_and_has_its_duration_or_ends_at_its_end(
    texts: dict[str, str], part: tuple[float, float | None]
) -> None:
    assert part_in(texts) == part


def test_times_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    tone(tmp_path / "a.wav", 3)
    write_list(tmp_path, "json_lines", "begin,end", "a.wav,one,0,1", "a.wav,two,soon,2", "a.wav,three,2,1")
    done = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert [row["transcript"] for row in done.all_rows] == ["one"]
    assert set(done.left_out.values()) == {"a start, duration or end that cannot be used"}


def test_many_texts_of_whole_recordings_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tone(tmp_path / "a.wav", 3)
    tone(tmp_path / "b.wav", 3)
    rows = [f"a.wav,{text},{start}" for start, text in enumerate(("one", "two", "three", "four"))]
    write_list(tmp_path, "json_lines", "first_sample", *rows, "b.wav,five,0")
    Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    (message,) = caplog.messages
    assert message.startswith("rows.jsonl:2: another text of the same recording, as are 3 of 5 rows;")
