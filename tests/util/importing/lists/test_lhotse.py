"""Manifests of Lhotse."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile
from trees import Import, tone

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import SETS, Choices

ALL_TRAIN = Choices(split=(1, 0, 0))

SUPERVISION = {"recording_id": "a", "start": 0, "duration": 3, "channel": 0, "text": "word"}
FILE = {"type": "file", "channels": [0], "source": "a.wav"}
RECORDING = {"id": "a", "duration": 3, "sources": [FILE]}


def write_compressed(path: Path, rows: Sequence[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        gzip.compress("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode())
    )


def test_supervisions_of_lhotse_are_found_with_their_recordings_above_the_manifests(tmp_path: Path) -> None:
    manifests = tmp_path / "data" / "manifests"
    for part in SETS:
        tone(tmp_path / "download" / part / "a.wav", 3)
        tone(tmp_path / "download" / part / "b.wav", 1)
        source = {**FILE, "source": f"download/{part}/a.wav"}
        short = {"type": "file", "channels": [0], "source": f"download/{part}/b.wav"}
        recordings = [{**RECORDING, "sources": [source]}, {"id": "b", "duration": 1, "sources": [short]}]
        write_compressed(manifests / f"x_recordings_{part}.jsonl.gz", recordings)
        rows = [
            {**SUPERVISION, "start": 1, "duration": 1.2, "speaker": "ann", "language": "en", "custom": {"a": 1}},
            {**SUPERVISION, "recording_id": "b", "duration": 0.995, "text": "short"},
            '{"id": "cut off',
        ]
        write_compressed(manifests / f"x_supervisions_{part}.jsonl.gz", rows)
    done = Import("lhotse", manifests, tmp_path / "out")
    assert format_of(manifests, Choices()) == "lhotse"
    first, second = done.rows("train")
    assert (first["transcript"], first["speaker"], first["language"], first["duration"]) == (
        "word",
        "ann",
        "en",
        "1.200",
    )
    assert (second["transcript"], second["wav_filename"]) == ("short", str(tmp_path / "download" / "train" / "b.wav"))
    assert len(done.rows("dev")) == len(done.rows("test")) == 2
    assert set(done.left_out.values()) == {"not JSON"}


def test_cuts_of_lhotse_are_read_without_those_that_are_changed(tmp_path: Path) -> None:
    tone(tmp_path / "a.wav", 3)
    cut = {"id": "c", "start": 1, "duration": 1, "recording": RECORDING, "supervisions": [SUPERVISION]}
    inside = {**SUPERVISION, "start": 0.5, "duration": 0.5}
    earlier = {**inside, "start": 0.2}
    changed = {**RECORDING, "transforms": [{"name": "Speed", "kwargs": {"factor": 0.9}}]}
    padded = {
        "tracks": [{"type": "MonoCut", "cut": {**cut, "supervisions": [earlier]}}, {"type": "PaddingCut", "cut": {}}]
    }
    rows = [
        {**cut, "supervisions": [inside, {**inside, "text": None}]},
        padded,
        {"id": "mixed", "tracks": [{"type": "MonoCut", "cut": cut}] * 2},
        cut,
        {**cut, "recording": changed, "supervisions": [inside]},
        {
            **cut,
            "recording": {**RECORDING, "sources": [{**FILE, "type": "url"}]},
            "supervisions": [inside],
        },
        {**cut, "recording": None, "supervisions": [inside]},
        {**cut, "supervisions": [{**inside, "start": "soon"}]},
        {**cut, "recording": {**RECORDING, "sources": [{**FILE, "source": "\ud800.wav"}]}, "supervisions": [inside]},
        "{",
        "7",
    ]
    write_compressed(tmp_path / "cuts_all.jsonl.gz", rows)
    done = Import("lhotse", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert [(row["transcript"], row["duration"]) for row in done.all_rows] == [("word", "0.500")] * 2
    assert list(done.left_out.items()) == [
        ("cuts_all.jsonl.gz:1", "no text"),
        ("cuts_all.jsonl.gz:3", "a mix of several cuts"),
        ("cuts_all.jsonl.gz:4", "a supervision that goes beyond its cut"),
        ("cuts_all.jsonl.gz:5", "a recording that Lhotse changes"),
        ("cuts_all.jsonl.gz:6", "a recording that is no file"),
        ("cuts_all.jsonl.gz:7", "its recording is in no manifest"),
        ("cuts_all.jsonl.gz:8", "not as Lhotse writes it"),
        ("cuts_all.jsonl.gz:9", "a name or text that cannot be written as UTF-8"),
        ("cuts_all.jsonl.gz:10", "not JSON"),
        ("cuts_all.jsonl.gz:11", "not a JSON object"),
    ]


def test_manifests_of_lhotse_that_lack_something_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(ImportingError, match=r"has no \*supervisions\*.jsonl.gz or \*cuts\*.jsonl.gz of Lhotse"):
        Import("lhotse", tmp_path, tmp_path / "out")
    write_compressed(tmp_path / "x_supervisions_train.jsonl.gz", [SUPERVISION])
    with pytest.raises(ImportingError, match=r"there is no x_recordings_train\.jsonl\.gz beside it"):
        Import("lhotse", tmp_path, tmp_path / "out")
    (tmp_path / "x_recordings_train.jsonl.gz").write_bytes(gzip.compress(b"{}" * 5000)[:20])
    with pytest.raises(ImportingError, match=r"x_recordings_train.jsonl.gz: cannot be read: .*ended before"):
        Import("lhotse", tmp_path, tmp_path / "out")


def test_each_side_of_a_call_is_heard_alone(tmp_path: Path) -> None:
    sides = np.stack([np.full(8000, 100, np.int16), np.full(8000, 200, np.int16)], axis=1)
    soundfile.write(tmp_path / "a.wav", sides, 8000)
    call = {**RECORDING, "duration": 1, "sources": [{**FILE, "channels": [0, 1]}]}
    whole = {**SUPERVISION, "duration": 1}
    rows = [
        {**whole, "channel": 0, "text": "left"},
        {**whole, "channel": 1, "start": 0.5, "duration": 0.25, "text": "right"},
        {**whole, "channel": [0, 1], "text": "both"},
    ]
    write_compressed(tmp_path / "recordings.jsonl.gz", [call])
    write_compressed(tmp_path / "supervisions.jsonl.gz", rows)
    for _ in range(2):  # the second time, the clips are there
        done = Import("lhotse", tmp_path, tmp_path / "out", ALL_TRAIN)
        left, right, both = done.all_rows
        assert (left["transcript"], left["duration"], {*done.samples(left)[0]}) == ("left", "1.000", {100})
        assert (right["transcript"], right["duration"], {*done.samples(right)[0]}) == ("right", "0.250", {200})
        assert both["wav_filename"] == str(tmp_path / "a.wav")
    soundfile.write(tmp_path / "a.wav", sides[:, 0], 8000)
    done = Import("lhotse", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert done.left_out == {"supervisions.jsonl.gz:2": "its segment cannot be cut out"}


def test_of_several_texts_as_in_libriheavy_the_first_is_used(tmp_path: Path) -> None:
    tone(tmp_path / "a.wav", 3)
    supervision = {**SUPERVISION, "duration": 1, "custom": {"texts": ["A word.", "A WORD"]}}
    del supervision["text"]
    cut = {"id": "a_0", "start": 1, "duration": 1, "channel": 0, "recording": RECORDING, "supervisions": [supervision]}
    write_compressed(tmp_path / "libriheavy_cuts_small.jsonl.gz", [{**cut, "type": "MonoCut"}])
    done = Import("lhotse", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert [(row["transcript"], row["duration"]) for row in done.all_rows] == [("A word.", "1.000")]


def test_an_utterance_of_several_manifests_or_cuts_is_imported_once(tmp_path: Path) -> None:
    tone(tmp_path / "a.wav", 6)
    recording = {**RECORDING, "duration": 6}
    one = {**SUPERVISION, "duration": 1, "text": "one"}
    two = {**one, "start": 2, "text": "two"}
    at_once = {**one, "text": "three", "speaker": "ann"}
    cut = {"start": 0, "duration": 6, "channel": 0, "recording": recording}
    cuts = [
        {**cut, "duration": 3, "supervisions": [one, at_once, two]},
        {**cut, "start": 2, "duration": 4, "supervisions": [{**two, "start": 0}]},
    ]
    write_compressed(tmp_path / "x_cuts_train-all-shuf.jsonl.gz", cuts)
    write_compressed(tmp_path / "x_cuts_valid.jsonl.gz", cuts[1:])
    done = Import("lhotse", tmp_path, tmp_path / "out")
    assert {row["transcript"] for row in done.rows("train") + done.rows("test")} == {"one", "three"}
    assert [row["transcript"] for row in done.rows("dev")] == ["two"]
    assert done.left_out == {
        "x_cuts_train-all-shuf.jsonl.gz:1": "an utterance of another list, too; keep one of the lists",
        "x_cuts_train-all-shuf.jsonl.gz:2": "an utterance of another cut, too",
    }


def test_cuts_that_are_not_read_beside_supervisions_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tone(tmp_path / "a.wav", 3)
    for name, row in (("x_recordings", RECORDING), ("x_supervisions", SUPERVISION), ("x_cuts", {}), ("y_cuts", {})):
        write_compressed(tmp_path / f"{name}_train.jsonl.gz", [row])
    assert len(Import("lhotse", tmp_path, tmp_path / "out").all_rows) == 1
    (message,) = caplog.messages
    assert message.startswith(f"{tmp_path / 'y_cuts_train.jsonl.gz'}: not read, as there are supervisions")
