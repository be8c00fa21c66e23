"""Parquet files that hold recordings, as on the Hugging Face hub."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from trees import Import, tone, write

from deepspeech.util.errors import CorpusError, ImportingError
from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import Choices

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def recording(folder: Path, name: str, seconds: float = 0.5) -> dict[str, Any]:
    """Return a recording as a column `audio` holds it."""
    return {"bytes": tone(folder / name, seconds).read_bytes(), "path": name}


def table(path: Path, rows: Sequence[dict[str, Any]], features: object = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    described = {b"huggingface": json.dumps({"info": {"features": features}}).encode()} if features else None
    parquet.write_table(arrow.Table.from_pylist(rows).replace_schema_metadata(described), path)
    return path


def test_recordings_are_written_into_files_and_names_of_files_give_the_sets(tmp_path: Path) -> None:
    source = tmp_path / "corpus"
    for part, text in (("train", "Eins, zwei."), ("validation", "drei"), ("test", "vier")):
        row: dict[str, Any] = {
            "audio": recording(tmp_path, f"{part}.wav"),
            "raw_text": "x",
            "sentence": text,
            "client_id": f"s{part}",
        }
        row |= {"age": 30, "sex": 1, "liked": True, "tags": ["a"], "Up Votes": 2.5}
        features = {"sex": {"names": ["female", "male"], "_type": "ClassLabel"}, "tags": [{"_type": "Value"}]}
        table(source / "data" / f"{part}-00000-of-00001.parquet", [row], features)
    done = Import("parquet", source, tmp_path / "out")
    assert done.sets == {"train": {"train.wav"}, "dev": {"validation.wav"}, "test": {"test.wav"}}
    assert done.transcripts == {"train.wav": "Eins, zwei.", "validation.wav": "drei", "test.wav": "vier"}
    (row,) = done.rows("train")
    assert row["wav_filename"] == "recordings/data/train-00000-of-00001/train.wav"
    assert {name: row[name] for name in ("speaker", "age", "sex", "up_votes", "raw_text")} == {
        **{"speaker": "strain", "age": "30", "sex": "male"},
        **{"up_votes": "2.5", "raw_text": "x"},
    }
    assert not {"tags", "liked", "client_id", "sentence"} & set(row)
    assert (tmp_path / "out" / row["wav_filename"]).read_bytes() == (tmp_path / "train.wav").read_bytes()


def test_names_that_are_missing_shared_or_no_names_of_files_are_replaced_by_numbers(tmp_path: Path) -> None:
    names = ["a.wav", "a.wav", None, "../../b.flac", ".c.wav", "d", "e.mp3"]
    rows = []
    for number, name in enumerate(names):
        audio = recording(
            tmp_path, f"{number}.{(name or 'x.wav').rpartition('.')[2].replace('d', 'flac')}", 0.3 + number / 10
        )
        rows.append({"audio": audio | {"path": name}, "text": str(number), "set": "train"})
    table(tmp_path / "corpus" / "all.parquet", rows)
    done = Import("parquet", tmp_path / "corpus", tmp_path / "out", Choices((100, 0, 0)))
    assert {name: int(text) for name, text in done.transcripts.items()} == {
        **{"a.wav": 0, "00000002.wav": 1, "00000003.wav": 2, "b.flac": 3, "00000005.wav": 4, "00000006.flac": 5},
        "e.mp3": 6,
    }


def test_a_number_in_place_of_a_name_is_no_name_of_another_recording(tmp_path: Path) -> None:
    names = {"00000003.wav": 0.3, "00000001.wav": 0.4, "other/00000001.wav": 0.5, "00000003-1.wav": 0.6}
    rows = [{"audio": recording(tmp_path, Path(name).name, names[name]), "text": name} for name in names]
    table(tmp_path / "corpus" / "all.parquet", rows)
    done = Import("parquet", tmp_path / "corpus", tmp_path / "out", Choices((100, 0, 0)))
    assert {row["transcript"]: float(row["duration"]) for row in done.all_rows} == names


def test_rows_without_a_recording_or_a_transcript_are_left_out(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"audio": {"bytes": None, "path": "a.wav"}, "text": "one"},
        {"audio": recording(tmp_path, "b.wav"), "text": None},
        {"audio": recording(tmp_path, "c.wav"), "text": "three"},
        {"audio": {"bytes": b"RIFF", "path": "d.wav"}, "text": "four"},
        {"audio": None, "text": "five"},
    ]
    table(tmp_path / "corpus" / "train" / "0000.parquet", rows)
    done = Import("parquet", tmp_path / "corpus", tmp_path / "out")
    assert done.transcripts == {"c.wav": "three"}
    assert done.left_out.pop("train/0000.parquet:4")
    assert done.left_out == {
        "train/0000.parquet:1": "no recording in the row",
        "train/0000.parquet:2": "empty transcript",
        "train/0000.parquet:5": "no recording in the row",
    }


def test_names_of_labels_are_the_transcripts_where_there_is_no_text(tmp_path: Path) -> None:
    rows = [{"audio": recording(tmp_path, f"{label}.wav"), "label": label} for label in (1, 0, -1)]
    table(tmp_path / "corpus" / "train.parquet", rows, {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}})
    done = Import("parquet", tmp_path / "corpus", tmp_path / "out")
    assert done.transcripts == {"1.wav": "yes", "0.wav": "no"}
    assert done.left_out == {"train.parquet:3": "empty transcript"}


def test_a_file_is_unpacked_once_and_again_when_it_has_changed(tmp_path: Path) -> None:
    path = table(tmp_path / "corpus" / "train.parquet", [{"audio": recording(tmp_path, "a.wav"), "text": "one"}])
    Import("parquet", tmp_path / "corpus", tmp_path / "out")
    unpacked = tmp_path / "out" / "recordings" / "train" / "a.wav"
    before = unpacked.stat().st_ino
    killed = write(tmp_path / "out" / "recordings" / ".train.part-x" / "new" / "a.wav", "")
    Import("parquet", tmp_path / "corpus", tmp_path / "out")
    assert unpacked.stat().st_ino == before
    table(path, [{"audio": recording(tmp_path, "b.wav", 1.0), "text": "two"}])
    done = Import("parquet", tmp_path / "corpus", tmp_path / "out")
    assert done.transcripts == {"b.wav": "two"}
    assert not unpacked.exists() and not killed.exists()


def test_the_format_is_found_without_writing_anything(tmp_path: Path) -> None:
    table(tmp_path / "corpus" / "data" / "train.parquet", [{"audio": recording(tmp_path, "a.wav"), "text": "one"}])
    write(tmp_path / "corpus" / "README.md", "# A corpus\n")
    assert format_of(tmp_path / "corpus", Choices()) == "parquet"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.wav", "corpus"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            b"version https://git-lfs.github.com/spec/v1\n",
            "only a pointer of Git LFS; fetch the file with git lfs pull",
        ),
        (b"PAR1" + bytes(100), r"cannot be read \(.*\); download it again"),
        (b"", r"cannot be read \(.*\); download it again"),
    ],
)
def test_a_damaged_file_is_named(content: bytes, reason: str, tmp_path: Path) -> None:
    write(tmp_path / "corpus" / "train.parquet", content)
    with pytest.raises(CorpusError, match=rf"train.parquet: {reason}$"):
        format_of(tmp_path / "corpus", Choices())
    with pytest.raises(ImportingError, match=rf"train.parquet: {reason}$"):
        Import("parquet", tmp_path / "corpus", tmp_path / "out")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"image": b"x", "text": "one"}, "no column holds recordings; the columns: image, text"),
        ({"audio": b"x", "words": "one"}, "no column holds transcripts; the columns: audio, words"),
    ],
)
def test_a_file_without_recordings_or_transcripts_is_refused(row: dict[str, Any], reason: str, tmp_path: Path) -> None:
    table(tmp_path / "corpus" / "train.parquet", [row])
    with pytest.raises(ImportingError, match=f"train.parquet: {reason}$"):
        Import("parquet", tmp_path / "corpus", tmp_path / "out")


def test_a_dataset_that_was_saved_to_disk_is_read_without_its_caches(tmp_path: Path) -> None:
    source = tmp_path / "saved"
    for part in ("train", "test"):
        rows = [{"audio": recording(tmp_path, f"{part}{number}.wav"), "sentence": part} for number in range(40)]
        (source / part).mkdir(parents=True)
        for name in ("data-00000-of-00001.arrow", "cache-0123.arrow"):
            saved = arrow.Table.from_pylist(rows)
            with arrow.ipc.new_stream(str(source / part / name), saved.schema) as stream:
                stream.write_table(saved)
        write(source / part / "state.json", json.dumps({"_data_files": [], "_split": part}, indent=2))
    assert format_of(source, Choices()) == "parquet"
    done = Import("parquet", source, tmp_path / "out")
    assert len(done.all_rows) == 80 and {row["transcript"] for row in done.rows("test")} == {"test"}
    for content in ("", "{}"):
        write(source / "train" / "data-00000-of-00001.arrow", content)
        with pytest.raises(ImportingError, match=r"of-00001\.arrow: cannot be read \(.*\); download it again"):
            Import("parquet", source, tmp_path / "damaged")


def test_rows_of_several_files_are_imported_once_and_without_those_beside_the_sets(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = {
        name: {"audio": recording(tmp_path, f"{name}.wav", 1 + number / 8), "text": name}
        for number, name in enumerate("abcde")
    }
    texts = {
        "train": "ab",
        "all/train": "abc",
        "test": "d",
        "all/validation": "bd",
        "invalidated": "e",
        "validated": "abd",
    }
    for name, of_file in texts.items():
        table(tmp_path / "corpus" / f"{name}-00000-of-00001.parquet", [rows[text] for text in of_file])
    done = Import("parquet", tmp_path / "corpus", tmp_path / "out")
    transcripts = [sorted(row["transcript"] for row in done.rows(name)) for name in ("train", "dev", "test")]
    assert transcripts == [["a", "c"], ["b"], ["d"]]
    assert len(done.left_out) == 4
    assert set(done.left_out.values()) == {
        "an utterance of another file, too, as where all rows are beside those of some"
    }
    (warning,) = caplog.messages
    assert "invalidated-00000-of-00001.parquet and 1 more: not read, as others there are named as sets" in warning


def test_rows_of_the_same_recording_are_its_parts(tmp_path: Path) -> None:
    whole = recording(tmp_path, "long.wav", 3)
    rows = [{"audio": whole, "text": str(start), "begin": float(start), "end": start + 1.0} for start in range(3)]
    rows.append({"audio": recording(tmp_path, "cut.wav", 0.5), "text": "cut", "begin": 0.3, "end": 0.8})
    table(tmp_path / "corpus" / "all.parquet", rows)
    done = Import("parquet", tmp_path / "corpus", tmp_path / "out", Choices((100, 0, 0)))
    assert [(row["transcript"], row["duration"]) for row in done.all_rows] == [
        *(("0", "1.000"), ("1", "1.000"), ("2", "1.000"), ("cut", "0.500")),
    ]
    assert [set(done.samples(row)[0]) for row in done.all_rows[:3]] == [{100}, {200}, {300}]
