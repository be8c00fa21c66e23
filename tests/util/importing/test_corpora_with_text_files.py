"""Corpora in their published layouts with a file of text for each recording."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import Choices

ALL_TRAIN = Choices(split=(1, 0, 0))


def test_vctk_takes_the_first_microphone_that_there_is(tmp_path: Path) -> None:
    for name in ("p225/p225_001_mic1", "p225/p225_001_mic2", "p226/p226_001_mic2", "p315/p315_001_mic1"):
        tone(tmp_path / "wav48_silence_trimmed" / f"{name}.flac")
    write(tmp_path / "txt/p225/p225_001.txt", "Please call Stella.\n")
    write(tmp_path / "txt/p226/p226_001.txt", b"na\xefve")
    write(tmp_path / "speaker-info.txt", "ID AGE\np225 23\n")
    done = Import("vctk", tmp_path, tmp_path / "out", ALL_TRAIN)
    (row,) = done.all_rows
    assert (Path(row["wav_filename"]).name, row["transcript"], row["speaker"]) == (
        *("p225_001_mic1.flac", "Please call Stella."),
        "p225",
    )
    folder = "wav48_silence_trimmed"
    assert done.left_out == {
        f"{folder}/p226/p226_001_mic2.flac": "its transcript is not UTF-8",
        f"{folder}/p315/p315_001_mic1.flac": "no transcript",
    }


def test_the_first_release_of_vctk_has_one_microphone(tmp_path: Path) -> None:
    tone(tmp_path / "wav48/p225/p225_001.wav")
    write(tmp_path / "txt/p225/p225_001.txt", "Please call Stella.\n")
    assert Import("vctk", tmp_path, tmp_path / "out", ALL_TRAIN).transcripts == {"p225_001.wav": "Please call Stella."}


def test_libritts_has_the_sets_of_its_folders(tmp_path: Path) -> None:
    for name in ("train-clean-100/84/1/84_1_0_0", "dev-clean/85/1/85_1_0_0", "test-other/86/1/86_1_0_0"):
        tone(tmp_path / f"{name}.wav")
        write(tmp_path / f"{name}.normalized.txt", "Mister Quilter.")
        write(tmp_path / f"{name}.original.txt", "Mr. Quilter.")
    tone(tmp_path / "train-clean-100/84/1/84_1_0_1.wav")
    done = Import("libritts", tmp_path, tmp_path / "out")
    assert done.sets == {"train": {"84_1_0_0.wav"}, "dev": {"85_1_0_0.wav"}, "test": {"86_1_0_0.wav"}}
    assert {(row["transcript"], row["speaker"]) for row in done.all_rows} == {
        ("Mister Quilter.", speaker) for speaker in ("84", "85", "86")
    }
    assert done.left_out == {"train-clean-100/84/1/84_1_0_1.wav": "no transcript"}


@pytest.mark.parametrize("change", [str.upper, str.lower])
@pytest.mark.parametrize("copies", [("",), ("", ".wav")])
def test_timit_is_without_the_sentences_that_every_speaker_reads(
    change: Callable[[str], str], copies: tuple[str, ...], tmp_path: Path
) -> None:
    for name in ("train/dr1/fcjf0/sa1", "train/dr1/fcjf0/sx37", "train/dr2/maeb0/si990", "test/dr1/faks0/sx43"):
        for copy in copies:
            tone(tmp_path / "data" / f"{change(f'{name}.wav')}{copy}")
        write(tmp_path / "data" / change(f"{name}.txt"), "0 46797 She had your suit.\n")
        write(tmp_path / "data" / change(f"{name}.wrd"), "0 46797 she\n")
    done = Import("timit", tmp_path, tmp_path / "out", Choices(split=None))
    assert len(done.all_rows) == 3
    assert {row["transcript"] for row in done.all_rows} == {"She had your suit."}
    assert {row["speaker"] for row in done.rows("test")} == {change("faks0")}
    assert set(done.left_out.values()) == {"a sentence that every speaker reads"}
    assert len(done.left_out) == 1


@pytest.mark.parametrize("name", ["2.txt", "2.TextGrid", "2.srt", "metadata.csv"])
def test_a_pipe_among_the_files_of_a_corpus_is_not_waited_for(name: str, tmp_path: Path) -> None:
    source = tmp_path / "corpus"
    for number in (1, 2):
        tone(source / f"{number}.wav")
    write(source / "1.txt", "one")
    os.mkfifo(source / name)
    assert format_of(source, ALL_TRAIN) == "folder"
    done = Import("folder", source, tmp_path / "out", ALL_TRAIN)
    assert (done.transcripts, len(done.left_out)) == ({"1.wav": "one"}, 1)
