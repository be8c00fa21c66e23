"""Lists of utterances in general formats: JSON lines, CSV, and Kaldi's directories."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
import soundfile
from trees import Import, tone, write

from deepspeech.util.corpus_files import read_files
from deepspeech.util.errors import BadRow, ImportingError
from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import SETS, Choices

ALL_TRAIN = Choices(split=(1, 0, 0))


def test_json_lines_cut_at_offsets_and_keep_other_keys(tmp_path: Path) -> None:
    tone(tmp_path / "audio" / "long.wav", 3)
    tone(tmp_path / "audio" / "short.wav", 1)
    rows = [
        {"audio_filepath": "audio/long.wav", "text": "two", "offset": 1, "duration": 1, "lang": "en", "words": [1]},
        {"audio_filepath": "audio/short.wav", "text": "one", "duration": 7.5, "speaker": "ann"},
        {"audio_filepath": "audio/short.wav"},
        {"audio_filepath": "audio/short.wav", "text": "x", "offset": "soon"},
        {"audio_filepath": "audio/short.wav", "text": "x", "offset": 5.0, "duration": 1},
    ]
    write(tmp_path / "train_manifest.json", "\n".join([*map(json.dumps, rows), "{", "7"]))
    done = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    first, second = done.all_rows
    assert (first["transcript"], first["lang"], first["duration"]) == ("two", "en", "1.000")
    assert set(done.samples(first)[0]) == {200}
    assert (second["wav_filename"], second["speaker"]) == (str(tmp_path / "audio" / "short.wav"), "ann")
    assert list(done.left_out.values()) == [
        "no text",
        "an offset or duration that is not a number",
        "a part beyond the end of its recording",
        "not JSON",
        "not a JSON object",
    ]


@pytest.mark.parametrize(
    ("audio", "text"), [("wav", "txt"), ("source", "target"), ("audio", "sentence"), ("path", "sentence")]
)
def test_json_lines_of_other_toolkits_are_read_in_folders_that_are_named_as_sets(
    audio: str, text: str, tmp_path: Path
) -> None:
    for number, part in enumerate(SETS):
        rows = [{"key": f"{number}", audio: str(tone(tmp_path / f"{part}.wav")), text: part}, {audio: "x.wav", text: 7}]
        write(tmp_path / part / "data.list", "\n".join(map(json.dumps, rows)))
    done = Import("json_lines", tmp_path, tmp_path / "out")
    assert [[(row["transcript"], row["key"]) for row in done.rows(part)] for part in SETS] == [
        [("train", "0")],
        [("dev", "1")],
        [("test", "2")],
    ]
    assert done.left_out == {f"{part}/data.list:2": f"no {text}" for part in SETS}
    assert format_of(tmp_path, Choices()) == "json_lines"


@pytest.mark.parametrize("form", ["by name", "array"])
def test_a_json_file_may_hold_all_rows_in_one_value(form: str, tmp_path: Path) -> None:
    tone(tmp_path / "wavs" / "a.wav")
    row = {"wav": "{data_root}/wavs/a.wav", "length": 1.0, "spk_id": "ann", "words": "yes"}
    bad = {"wav": "{data_root}/wavs/a.wav"}
    value = {"a": row, "b": bad} if form == "by name" else [row, bad]
    for indent in (2, None):
        write(tmp_path / "train.json", json.dumps(value, indent=indent))
        done = Import("lists", tmp_path, tmp_path / f"out{indent}", ALL_TRAIN)
        (found,) = done.all_rows
        assert (found["transcript"], found["speaker"]) == ("yes", "ann")
        assert list(done.left_out) == ["train.json:2"]
    assert format_of(tmp_path, Choices()) == "lists"


def test_a_column_with_a_carriage_return_leaves_the_rows_of_the_csv_whole(tmp_path: Path) -> None:
    tone(tmp_path / "a.wav")
    row = {"audio_filepath": "a.wav", "text": "word", "note": "one\rtwo", "speaker": "ann"}
    write(tmp_path / "all.jsonl", json.dumps(row))
    done = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert [(each["transcript"], each["note"]) for each in done.all_rows] == [("word", "one\rtwo")]
    assert (tmp_path / "out" / "train.csv").read_bytes().count(b"\n") == 2


def test_a_row_without_a_recording_is_said_to_be_so_and_is_no_share_of_a_set(tmp_path: Path) -> None:
    for number in range(3):
        tone(tmp_path / f"{number}.wav")
    write(tmp_path / "all.csv", "wav_filename,transcript\n,word\n0.wav,word\n1.wav,word\n2.wav,word\n")
    done = Import("lists", tmp_path, tmp_path / "out", Choices(split=(2, 1, 1)))
    assert done.left_out == {"all.csv:2": "no wav_filename"}
    assert [len(done.rows(name)) for name in SETS] == [1, 1, 1]


@pytest.mark.parametrize("form", ["json_lines", "lists"])
@pytest.mark.parametrize("column", ["speaker", "Speaker_ID", "client_id", "spk_id", "говорящии\u0306"])
def test_speakers_are_known_by_numbers_too_and_by_several_names(tmp_path: Path, form: str, column: str) -> None:
    tone(tmp_path / "a.wav")
    rows = [{"audio_filepath": "a.wav", "text": "word", column: number} for number in (0, 1)]
    if form == "json_lines":
        write(tmp_path / "all.jsonl", "\n".join(map(json.dumps, rows)))
    else:
        write(tmp_path / "all.csv", f"wav_filename,transcript,{column}\na.wav,word,0\na.wav,word,1\n")
    done = Import(form, tmp_path, tmp_path / "out", ALL_TRAIN)
    assert [row["speaker"] for row in done.all_rows] == ["0", "1"]
    assert column == "speaker" or column not in done.all_rows[0]


@pytest.mark.parametrize("form", ["json_lines", "kaldi", "lists"])
def test_what_stands_beside_the_sets_is_not_trained_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, form: str
) -> None:
    for number in range(4):
        tone(tmp_path / f"{number}.wav")
    for name, numbers in {"all": range(4), "train": (0, 1), "dev": (2,), "eval": (3,)}.items():
        if form == "kaldi":
            write(tmp_path / name / "wav.scp", "".join(f"u{each} {tmp_path}/{each}.wav\n" for each in numbers))
            write(tmp_path / name / "text", "".join(f"u{each} word\n" for each in numbers))
        else:
            rows = [json.dumps({"audio_filepath": f"{each}.wav", "text": "word"}) for each in numbers]
            write(tmp_path / f"{name}.jsonl", "\n".join(rows))
    done = Import(form, tmp_path, tmp_path / "out")
    assert done.sets == {"train": {"0.wav", "1.wav"}, "dev": {"2.wav"}, "test": {"3.wav"}}
    assert len(done.all_rows) == 4
    assert [message.partition(": ")[2].split(",")[0] for message in caplog.messages] == ["not read"]


def test_lists_are_divided_by_speaker_and_keep_their_parts_and_columns(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tone(tmp_path / "long.wav", 3)
    tone(tmp_path / "short.wav", 1)
    tone(tmp_path / "other.wav", 1)
    header = "wav_filename,wav_filesize,transcript,client_id,start,duration,accent\n"
    rows = ["long.wav,0,two,ann,1,1,north", "short.wav,0,one,bob,,,", "short.wav,0", "long.wav,0,late,ann,9,1,"]
    write(tmp_path / "mine.csv", header + "\n".join(rows))
    write(tmp_path / "more.tsv", "wav_filename\twav_filesize\ttranscript\nother.wav\t0\tagain\n")
    notes = write(tmp_path / "notes.csv", "date;remark\n1 May;rain\n")
    done = Import("lists", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert caplog.messages == [f"{notes}: not read: it has no columns wav_filename and transcript"]
    two, one, again = done.all_rows
    assert (two["transcript"], two["speaker"], two["duration"], two["accent"]) == ("two", "ann", "1.000", "north")
    assert set(done.samples(two)[0]) == {200}
    assert (one["transcript"], one["speaker"], one["duration"]) == ("one", "bob", "1.000")
    assert (again["transcript"], again["speaker"]) == ("again", "")
    assert done.left_out == {
        "mine.csv:4": "a row that cannot be read",
        "mine.csv:5": "a part beyond the end of its recording",
    }


def test_lists_named_after_sets_are_these_sets_and_one_list_alone_can_be_meant(tmp_path: Path) -> None:
    for name in ("train", "dev", "left_out"):
        tone(tmp_path / f"{name}.wav")
        write(tmp_path / f"{name}.csv", f"wav_filename,wav_filesize,transcript\n{name}.wav,0,{name}\n")
    assert Import("lists", tmp_path, tmp_path / "out").sets == {
        "train": {"train.wav"},
        "dev": {"dev.wav"},
        "test": set(),
    }
    assert Import("lists", tmp_path / "left_out.csv", tmp_path / "one", ALL_TRAIN).transcripts == {
        "left_out.wav": "left_out"
    }


def test_archives_beside_lists_are_no_lists_and_a_shard_is_refused(tmp_path: Path) -> None:
    tone(tmp_path / "one.wav")
    write(tmp_path / "mine.csv", "wav_filename,transcript\none.wav,one\n")
    with tarfile.open(tmp_path / "train.tar", "w") as archive:
        archive.add(tmp_path / "one.wav", "one.wav")
    done = Import("lists", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert (done.transcripts, done.left_out) == ({"one.wav": "one"}, {})
    with pytest.raises(ImportingError, match=r"train\.tar: a shard, .* no files of their own; give a list of files"):
        Import("lists", tmp_path, tmp_path / "shard", Choices(lists=(tmp_path / "mine.csv", tmp_path / "train.tar")))
    with pytest.raises(ImportingError, match=r"out/download/train has no lists, .* have the format folder"):
        Import("lists", tmp_path / "train.tar", tmp_path / "out")


def test_folders_of_recordings_are_not_imported_together(tmp_path: Path) -> None:
    tone(tmp_path / "ann" / "1.wav")
    lists = (write(tmp_path / "all.csv", "wav_filename,transcript\nann/1.wav,word\n"), tmp_path / "ann")
    with pytest.raises(
        ImportingError, match=f"{tmp_path}/ann is a folder, .*; put the folders, or links to them, into"
    ):
        Import("lists", tmp_path, tmp_path / "out", Choices(lists=lists))


def test_sets_are_known_by_all_their_usual_names(tmp_path: Path) -> None:
    names = {
        "train": {"training", "train2", "train_nodev", "cv-valid-train"},
        "dev": {"Validation", "development", "train_dev", "test_dev93"},
        "test": {"testset", "eval92", "my test (1)", "valid_test"},
        "": {"latest", "trained"},
    }
    for name in set().union(*names.values()):
        tone(tmp_path / f"{name}.wav")
        write(tmp_path / f"{name}.csv", f"wav_filename,transcript\n{name}.wav,word\n")
    sets = Import("lists", tmp_path, tmp_path / "out").sets
    assert sets == {each: {f"{name}.wav" for name in names[each]} for each in ("train", "dev", "test")}


def test_kaldi_joins_its_files_and_refuses_commands(tmp_path: Path) -> None:
    data = tmp_path / "data"
    tone(data / "long.wav", 3)
    write(data / "wav.scp", f"rec1 {data / 'long.wav'}\nrec2 long.wav\n")
    write(data / "segments", "u3 rec1 2.0 -1\nu1 rec1 0.0 1.0\nu2 rec9 0 1\nu5 rec1 x 1\n")
    write(data / "text", "u1 one\nu2 two\nu3 three words here\nu4 four\nu5 five\n")
    write(data / "utt2spk", "u1 ann\nu3 bob\n")
    done = Import("kaldi", data, tmp_path / "out", ALL_TRAIN)
    one, three = done.all_rows
    assert (one["transcript"], one["speaker"], set(done.samples(one)[0])) == ("one", "ann", {100})
    assert (three["transcript"], three["speaker"], set(done.samples(three)[0])) == ("three words here", "bob", {300})
    assert done.left_out == {
        "text:2": "its recording is not in wav.scp",
        "text:4": "not in segments",
        "text:5": "malformed times in segments",
    }
    write(data / "wav.scp", "rec1 sox long.wav -t wav - speed 0.9 |\n")
    with pytest.raises(ImportingError, match=r"wav\.scp:1: a command"):
        Import("kaldi", data, tmp_path / "out")


def test_channels_of_some_recordings_of_kaldi_are_imported_beside_others(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for name in ("a.wav", "b.wav"):
        tone(data / name)
    write(data / "wav.scp", "u1 a.wav\nu2 sph2pipe -f wav -c 1 b.wav |\n")
    write(data / "text", "u1 one\nu2 two\n")
    for form in (format_of(data, Choices()), "lists"):
        done = Import(form, data, tmp_path / form, ALL_TRAIN)
        assert ([row["transcript"] for row in done.all_rows], done.left_out) == (["one", "two"], {})


def test_an_utterance_that_is_its_own_speaker_in_kaldi_is_of_a_speaker_that_nobody_knows(tmp_path: Path) -> None:
    for name in ("r1", "r2", "r3"):
        tone(tmp_path / f"{name}.wav", 2)
    write(tmp_path / "wav.scp", "r1 r1.wav\nr2 r2.wav\nr3 r3.wav\n")
    utterances = [f"{recording}-{second}" for recording in ("r1", "r2", "r3") for second in (0, 1)]
    write(tmp_path / "segments", "".join(f"{each} {each[:2]} {each[3]} {each[3]}.9\n" for each in utterances))
    write(tmp_path / "text", "".join(f"{each} word\n" for each in utterances))
    write(tmp_path / "utt2spk", "".join(f"{each} {each}\n" for each in utterances))
    done = Import("kaldi", tmp_path, tmp_path / "out", Choices(split=(1, 1, 1)))
    assert {row["speaker"] for row in done.all_rows} == {""}
    assert "no speaker is known, so a speaker can be in several sets" in "\n".join(done.news)
    recordings = [{Path(row["wav_filename"]).parent.name for row in done.rows(name)} for name in SETS]
    assert sorted(map(sorted, recordings)) == [["r1.wav"], ["r2.wav"], ["r3.wav"]]


def test_directories_of_kaldi_named_as_sets_are_the_sets(tmp_path: Path) -> None:
    for name in ("train", "dev", "test"):
        tone(tmp_path / name / f"{name}.wav", 1)
        write(tmp_path / name / "wav.scp", f"u1 {name}.wav\n")
        write(tmp_path / name / "text", "u1 word\n")
    write(tmp_path / "train_sp_hires" / "wav.scp", "u1 train.wav\nsp0.9-u1 sox train/train.wav -t wav - speed 0.9 |\n")
    assert Import("kaldi", tmp_path, tmp_path / "out").sets == {
        name: {f"{name}.wav"} for name in ("train", "dev", "test")
    }


def test_an_utterance_of_several_directories_of_kaldi_is_in_one_set(tmp_path: Path) -> None:
    names = [f"{number}" for number in range(6)]
    for name in names:
        tone(tmp_path / f"{name}.wav", 2)
    parts = {"train": names, "train_nodev": names[2:], "train_dev": names[:2], "test": names[5:]}
    for folder, utterances in parts.items():
        write(tmp_path / "data" / folder / "wav.scp", "".join(f"u{each} {each}.wav\n" for each in utterances))
        write(tmp_path / "data" / folder / "text", "".join(f"u{each} a word\n" for each in utterances))
    done = Import("kaldi", tmp_path / "data", tmp_path / "out")
    assert {name: sorted(done.sets[name]) for name in SETS} == {
        "train": ["2.wav", "3.wav", "4.wav"],
        "dev": ["0.wav", "1.wav"],
        "test": ["5.wav"],
    }
    assert set(done.left_out.values()) == {"an utterance of another directory, too"}


def test_the_channel_that_a_command_of_kaldi_chooses_is_cut_out_and_needs_an_import(tmp_path: Path) -> None:
    sides = np.stack([np.full(8000, 100, np.int16), np.full(8000, 200, np.int16)], axis=1)
    soundfile.write(tmp_path / "call.wav", sides, 8000)
    commands = "a sph2pipe -f wav -p -c 1 call.wav |\nb sox call.wav -t wav - remix 2 |\n"
    write(tmp_path / "wav.scp", commands)
    write(tmp_path / "text", "a left\nb right\n")
    done = Import("kaldi", tmp_path, tmp_path / "out", ALL_TRAIN)
    heard = {row["transcript"]: {*done.samples(row)[0]} for row in done.all_rows}
    assert heard == {"left": {100}, "right": {200}}
    first, second = read_files([tmp_path], None)
    assert isinstance(first, BadRow) and isinstance(second, BadRow)
    assert "one channel of a recording must be cut out before training" in first.reason
