"""Folders with metadata.csv or metadata.jsonl, a common layout of people's own corpora."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.errors import ImportingError


def test_sets_are_those_of_the_folders_and_other_values_become_columns(tmp_path: Path) -> None:
    source = tmp_path / "corpus"
    for path in ("train/a.wav", "train/b.wav", "validation/deep/c.wav", "test/d.wav"):
        tone(source / path)
    rows = ["file_name,transcription,speaker_id,age", 'train/a.wav,"one, two",x,30', 'train/b.wav,"thr\nee",x,']
    rows += ["validation/deep/c.wav,four,y,", "test/d.wav,five,z,", "test/lost.wav,six,z,", "test/d.wav"]
    write(source / "metadata.csv", "\ufeff" + "\r\n".join(rows))
    done = Import("audio_folder", source, tmp_path / "out")
    assert done.sets == {"train": {"a.wav", "b.wav"}, "dev": {"c.wav"}, "test": {"d.wav"}}
    assert done.transcripts == {"a.wav": "one, two", "b.wav": "thr ee", "c.wav": "four", "d.wav": "five"}
    assert [(row["speaker"], row["age"]) for row in done.rows("train")] == [("x", "30"), ("x", "")]
    missing = {"metadata.csv:7": "No such file or directory", "metadata.csv:8": "empty transcript"}
    assert done.left_out == missing


def test_each_set_may_have_metadata_of_its_own(tmp_path: Path) -> None:
    source = tmp_path / "corpus"
    for name, key in (("train", "text"), ("validation", "sentence"), ("test", "transcript")):
        tone(source / name / "data" / f"{name}.wav")
        rows: list[object] = [
            {"file_name": f"data/{name}.wav", key: f"word {key}", "length": 2.5, "speaker_id": 7, "tags": ["a"]}
        ]
        rows += [] if name != "train" else [{"file_name": 7, "text": "x"}, {"file_name": "data/train.wav"}, "x"]
        write(source / name / "metadata.jsonl", "\n".join(map(json.dumps, rows)) + ("\n{" if name == "train" else ""))
    done = Import("audio_folder", source, tmp_path / "out")
    assert done.transcripts == {
        "train.wav": "word text",
        "validation.wav": "word sentence",
        "test.wav": "word transcript",
    }
    assert done.sets == {"train": {"train.wav"}, "dev": {"validation.wav"}, "test": {"test.wav"}}
    assert {(row["length"], row["speaker"]) for row in done.all_rows} == {("2.5", "7")}
    assert "tags" not in done.all_rows[0]
    assert done.left_out == {
        "train/metadata.jsonl:2": "no file_name",
        "train/metadata.jsonl:3": "none of transcription, transcript, text, sentence",
        "train/metadata.jsonl:4": "not a JSON object",
        "train/metadata.jsonl:5": "not a JSON object",
    }


def test_a_duration_in_the_metadata_is_no_second_column_beside_that_which_is_measured(tmp_path: Path) -> None:
    tone(tmp_path / "corpus" / "a.wav")
    write(tmp_path / "corpus" / "metadata.csv", "file_name,text,duration,age\na.wav,one,7.5,30\n")
    Import("audio_folder", tmp_path / "corpus", tmp_path / "out")
    header, row = (tmp_path / "out" / "train.csv").read_text(encoding="utf-8").splitlines()
    assert header == "wav_filename,wav_filesize,transcript,speaker,duration,age"
    assert row.endswith(",one,,0.500,30")


def test_a_row_whose_text_has_commas_without_quotes_is_left_out_and_not_cut_at_the_first(tmp_path: Path) -> None:
    for name in "ab":
        tone(tmp_path / "corpus" / f"{name}.wav")
    write(tmp_path / "corpus" / "metadata.csv", "file_name,text\na.wav,yes, please\nb.wav,no\n")
    done = Import("audio_folder", tmp_path / "corpus", tmp_path / "out")
    assert done.transcripts == {"b.wav": "no"}
    assert done.left_out == {"metadata.csv:2": "more fields than the header has columns"}


@pytest.mark.parametrize(
    ("metadata", "wrong"),
    [
        ("path,text\na.wav,x\n", "metadata.csv: no column file_name; found: path, text"),
        ("", "metadata.csv: no column file_name"),
        ('file_name,text\na.wav,"x\n', "metadata.csv: cannot be read as CSV"),
        (b"file_name,text\na.wav,\xff\xfe\n", "metadata.csv: cannot be read as CSV"),
    ],
)
def test_metadata_that_cannot_be_read_is_named(metadata: str | bytes, wrong: str, tmp_path: Path) -> None:
    write(tmp_path / "corpus" / "metadata.csv", metadata)
    with pytest.raises(ImportingError, match=wrong):
        Import("audio_folder", tmp_path / "corpus", tmp_path / "out")
