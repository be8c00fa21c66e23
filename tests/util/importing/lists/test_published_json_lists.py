"""JSON lists in the layouts of published corpora, and lists whose recordings were moved."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from trees import Import, tone, write

from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import Choices


def imported(folder: Path) -> Import:
    return Import(format_of(folder, Choices()), folder, folder.with_name("out"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


def chat(user: str, assistant: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("set1_transcript.json", [{"file": "a.wav", "id": "1", "text": "一句话", "user_id": "7"}]),
        ("train.jsonl", {"messages": chat("<audio>语音转文本", "一句话"), "audios": ["audio_files/0/a.wav"]}),
        ("data.json", [{"conversations": [{"from": "gpt", "value": "一句话"}], "audios": ["a.wav"]}]),
        ("x/all.jsonl", {"audio_path": "audio_files/0/a.wav", "transcript": "一句话"}),
        ("x/all.json", {"audio": {"path": "a.wav"}, "sentence": "一句话"}),
    ],
)
def test_lists_may_have_other_names_for_recordings_and_texts(name: str, row: Any, folder: Path) -> None:
    tone(folder / "audio_files" / "0" / "a.wav")
    write(folder / name, json.dumps(row))
    done = imported(folder)
    assert done.transcripts == {"a.wav": "一句话"}
    assert [row.get("speaker", "") for row in done.all_rows] == (["7"] if "set1" in name else [""])


def test_rows_may_have_several_recordings(folder: Path) -> None:
    for name in (
        "audio/slurp_real/audio-1.flac",
        "audio/slurp_real/audio-1-headset.flac",
        "audio/slurp_real/audio-2.flac",
    ):
        tone(folder / name)
    recordings = [{"file": f"audio-1{ending}.flac", "wer": 0.0} for ending in ("", "-headset")]
    write(
        folder / "dataset/slurp/train.jsonl", json.dumps({"slurp_id": 1, "sentence": "one", "recordings": recordings})
    )
    recordings = [{"file": "audio-2.flac", "wer": 0.0}]
    write(
        folder / "dataset/slurp/devel.jsonl", json.dumps({"slurp_id": 2, "sentence": "two", "recordings": recordings})
    )
    write(
        folder / "dataset/slurp/metadata.json",
        json.dumps({"1": {"sentence": "one", "recordings": {"audio-1.flac": {}}}}),
    )
    done = imported(folder)
    assert done.transcripts == {"audio-1.flac": "one", "audio-1-headset.flac": "one", "audio-2.flac": "two"}
    assert done.sets["dev"] == {"audio-2.flac"}


def test_rows_may_have_parallel_lists_of_recordings_and_texts(folder: Path) -> None:
    for name in ("a_00000", "a_00001"):
        tone(folder / "train" / "clean" / "a" / f"{name}.flac")
    data = {"duration_ms": [500, 500], "label": ["one", "two"], "name": ["a/a_00000.flac", "a/a_00001.flac"]}
    row = {"audio_document_id": "a.mp3", "identifier": "a", "text_document_id": "a.srt", "training_data": data}
    write(folder / "train" / "clean.json", json.dumps(row))
    assert imported(folder).transcripts == {"a_00000.flac": "one", "a_00001.flac": "two"}


def test_lists_in_folders_below_are_found_with_their_sets(folder: Path) -> None:
    for place, name in (("train", "crowd/0/a.wav"), ("test/crowd", "files/b.wav")):
        tone(folder / place / name)
        tone(folder / place / name.replace(".wav", "2.wav"))
        rows = [{"audio_filepath": name.replace(".wav", ending), "text": "слово"} for ending in (".wav", "2.wav")]
        write(folder / place / "manifest.jsonl", "\n".join(map(json.dumps, rows)))
        write(folder / place / name.replace(".wav", ".json"), json.dumps({"text": "слово"}))
    sets = imported(folder).sets
    assert sets["test"] == {"b.wav", "b2.wav"}
    assert sets["train"] | sets["dev"] == {"a.wav", "a2.wav"}


def test_recordings_that_are_not_where_a_list_says_are_taken_by_their_names(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("c1/a.wav", "c2/a.wav", "c2/b.wav", "c1/d.wav", "c2/d.wav"):
        tone(folder / "clips" / name)
    names = ("/elsewhere/c1/a.wav", "/elsewhere/b.mp3", "/elsewhere/d.wav", "/elsewhere/c.wav")
    rows = [{"audio_filepath": name, "text": f"word {place}"} for place, name in enumerate(names)]
    for file in ("train.json", "all.json"):
        write(folder / file, "\n".join(map(json.dumps, rows)))
    with caplog.at_level(logging.WARNING, "deepspeech"):
        done = imported(folder)
    assert done.transcripts == {"a.wav": "word 0", "b.wav": "word 1"}
    assert set(done.left_out) == {"train.json:3", "train.json:4"}
    told = [record.getMessage() for record in caplog.records if "is not there" in record.getMessage()]
    assert told[-1].startswith("train.json:1: /elsewhere/c1/a.wav is not there; recordings are taken by their names: ")
    assert sum("all.json: not read" in record.getMessage() for record in caplog.records) == 1


def test_directories_of_kaldi_may_name_paths_of_another_machine(folder: Path) -> None:
    tone(folder / "train" / "wav" / "ann" / "a_1.wav")
    write(folder / "train" / "wav.scp", "a_1 /home/bob/asr/train/wav/ann/a_1.wav\n")
    write(folder / "train" / "text", "a_1 neno\n")
    write(folder / "train" / "utt2spk", "a_1 ann\n")
    done = imported(folder)
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [("neno", "ann")]


@pytest.mark.parametrize("place", ["", "wav/"])
@pytest.mark.parametrize("ending", ["json", "csv", "txt"])
def test_a_recording_of_one_speaker_is_not_taken_for_one_of_the_same_name_of_another(
    ending: str, place: str, folder: Path
) -> None:
    names = (f"ann/{place}1.wav", f"bob/{place}1.wav")
    tone(folder / names[0])
    rows = {
        "json": "\n".join(json.dumps({"audio_filepath": name, "text": name}) for name in names),
        "csv": "wav_filename,transcript\n" + "\n".join(f"{name},{name}" for name in names),
        "txt": "\n".join(f"{name}\t{name}" for name in names),
    }
    write(folder / f"words.{ending}", rows[ending])
    done = imported(folder)
    assert done.transcripts == {"1.wav": names[0]}
    assert len(done.left_out) == 1


def test_a_recording_is_of_no_other_speaker_however_late_the_list_names_both(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    for number in range(5):
        tone(folder / "data" / "ann" / f"{number}.wav")
    names = [(speaker, f"{speaker}/{number}.wav") for speaker in ("ann", "bob") for number in range(2100)]
    write(folder / "train.jsonl", "\n".join(json.dumps({"audio_filepath": name, "text": who}) for who, name in names))
    done = Import("json_lines", folder, tmp_path / "out", Choices(split=(1, 0, 0)))
    assert set(done.transcripts.values()) == {"ann"}


def test_a_list_of_all_rows_beside_those_of_the_sets_adds_no_row_twice(tmp_path: Path) -> None:
    for name, texts in (("train", "ab"), ("train_all", "abcd"), ("valid", "d")):
        rows = [{"audio_filepath": str(tone(tmp_path / f"{text}.wav")), "text": text} for text in texts]
        write(tmp_path / f"{name}.jsonl", "\n".join(map(json.dumps, rows)))
    for number, form in enumerate((format_of(tmp_path, Choices()), "json_lines")):
        done = Import(form, tmp_path, tmp_path / f"out{number}")
        assert sorted(row["transcript"] for row in done.all_rows) == ["a", "b", "c", "d"]
        assert done.sets["dev"] == {"d.wav"}
        assert len(done.left_out) == 3
