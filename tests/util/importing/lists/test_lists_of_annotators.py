"""Lists of transcripts that people wrote with programs for annotation."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from trees import Import, tone, write

from deepspeech.util.corpus_files import columns_by_line
from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import Choices


def imported(folder: Path, name: str, content: str) -> Import:
    tone(folder / "media" / "a.wav", 4)
    tone(folder / "media" / "b.wav", 4)
    write(folder / name, content)
    return Import(format_of(folder, Choices()), folder, folder.with_name("out"), Choices(split=(1, 0, 0)))


def region(start: float, end: float, text: str, label: str) -> list[dict[str, Any]]:
    times = {"start": start, "end": end, "channel": 0}
    return [
        {"id": text, "type": "labels", "from_name": "labels", "value": {**times, "labels": [label]}},
        {"id": text, "type": "textarea", "from_name": "transcription", "value": {**times, "text": [text]}},
    ]


@pytest.mark.parametrize("audio", ["/data/upload/1/0123abcd-a.wav", "/data/local-files/?d=media/a.wav"])
def test_regions_of_label_studio_are_cut(audio: str, tmp_path: Path) -> None:
    regions = [*region(0.5, 1.5, "yes", "Speaker 1"), *region(2, 4, "no", "Noise")]
    cancelled = {"was_cancelled": True, "result": region(0, 1, "wrong", "Speech")}
    task = {"id": 1, "annotations": [{"result": regions}, cancelled], "data": {"audio": audio}}
    unlabelled = {"id": 2, "annotations": [], "data": {"audio": "media/b.wav"}}
    done = imported(tmp_path / "corpus", "project-1-at-2026-01-01.json", json.dumps([task, unlabelled]))
    rows = [(row["transcript"], row["duration"], row["speaker"][-9:]) for row in done.all_rows]
    assert rows == [("yes", "1.000", "Speaker 1"), ("no", "2.000", "")]
    assert list(done.left_out.values()) == ["a row that cannot be read"]


def test_regions_of_one_line_have_speakers_of_their_own(tmp_path: Path) -> None:
    regions = [*region(0.5, 1.5, "yes", "Speaker 1"), *region(2, 4, "no", "Speaker 2")]
    task = {"data": {"audio": "media/a.wav", "room": "x"}, "annotations": [{"result": regions}]}
    done = imported(tmp_path / "corpus", "tasks.jsonl", f"{json.dumps(task)}\n")
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [
        ("yes", "a-Speaker 1"),
        ("no", "a-Speaker 2"),
    ]
    assert columns_by_line(str(tmp_path / "corpus" / "tasks.jsonl")) == {1: {}}  # what is true of both


def test_json_min_has_texts_of_recordings_or_of_regions(tmp_path: Path) -> None:
    common = {"id": 1, "annotator": 1, "annotation_id": 1, "created_at": "", "lead_time": 2.5}
    labels = [{"start": 0.5, "end": 1.5, "labels": ["x"]}, {"start": 2, "end": 4, "labels": ["x"]}]
    rows = [
        {"audio": "/data/upload/1/0123abcd-a.wav", "label": labels, "transcription": ["yes", "no"], **common},
        {"audio": "/data/upload/1/b.wav", "transcription": "maybe", **common},
    ]
    done = imported(tmp_path / "corpus", "project.json", json.dumps(rows))
    assert [(row["transcript"], row["duration"]) for row in done.all_rows] == [
        ("yes", "1.000"),
        ("no", "2.000"),
        ("maybe", "4.000"),
    ]


@pytest.mark.parametrize(
    "row",
    [
        {"id": 1, "filename": "b.wav", "label": ["maybe"], "Comments": []},
        {"audio": "b.wav", "text": "b", "_input_hash": 1, "transcript": "maybe", "answer": "accept"},
        {
            "audio": "data:audio/x-wav;base64,AAA",
            "path": "/x/b.wav",
            "text": "b",
            "_input_hash": 1,
            "transcript": "maybe",
        },
    ],
)
def test_json_lines_of_doccano_and_prodigy_have_the_transcript(row: dict[str, Any], tmp_path: Path) -> None:
    done = imported(tmp_path / "corpus", "all.jsonl", json.dumps(row) + "\n")
    assert done.transcripts == {"b.wav": "maybe"}


def test_csv_of_label_studio_with_regions_is_told_to_be_exported_as_json(tmp_path: Path) -> None:
    regions = json.dumps([{"start": 0.5, "end": 1.0, "labels": ["Speech"]}, {"start": 1.5, "end": 2.0}])
    rows = [["audio", "id", "label", "transcription", "annotator", "annotation_id"]]
    rows += [["/data/upload/1/0a1b2c3d-a.wav", "1", regions, '["yes","no"]', "1", "5"]]
    rows += [["/data/upload/1/0a1b2c3d-b.wav", "2", "", "yes", "1", "6"]]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    done = imported(tmp_path / "corpus", "project.csv", text.getvalue())
    assert done.transcripts == {"b.wav": "yes"}
    assert done.left_out == {"project.csv:2": "the texts of several regions in one field; export them as JSON"}


def test_csv_of_label_studio_names_uploads(tmp_path: Path) -> None:
    text = (
        "annotation_id,audio,transcription\n1,/data/upload/1/0123abcd-a.wav,yes\n2,/data/upload/1/89abcdef-b.wav,no\n"
    )
    assert imported(tmp_path / "corpus", "project.csv", text).transcripts == {"a.wav": "yes", "b.wav": "no"}
