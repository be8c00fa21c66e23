"""LJSpeech, and other corpora with its layout of metadata.csv."""

from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing.pipeline.records import Choices

ALL_TRAIN = Choices(split=(1, 0, 0))


def test_ljspeech_takes_the_normalized_text_and_leaves_quotes_alone(tmp_path: Path) -> None:
    for name in ("LJ1", "LJ2", "grüße"):
        tone(tmp_path / "wavs" / f"{name}.wav")
    write(tmp_path / "metadata.csv", 'LJ1|Dr. "A"|doctor "a"\nLJ2|two|\ngrüße|"hallo\nLJ3\n')
    done = Import("ljspeech", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert done.transcripts == {"LJ1.wav": 'doctor "a"', "LJ2.wav": "two", "grüße.wav": '"hallo'}
    assert done.left_out == {"metadata.csv:4": "a line without |"}


def test_ljspeech_takes_what_a_header_says_and_refuses_speakers_for_transcripts(tmp_path: Path) -> None:
    for number in range(10):
        tone(tmp_path / "wavs" / f"LJ{number}.wav")
    for first in ("Ann Lee", "s"):
        lines = "".join(f"wavs/LJ{number}.wav|one {number}|{first}{number % 2}\n" for number in range(10))
        write(tmp_path / "metadata.csv", lines)
        refused = rf"metadata\.csv: the last column has only {first}0, {first}1, .* file\|text\|speaker$"
        with pytest.raises(ImportingError, match=refused):
            Import("ljspeech", tmp_path, tmp_path / "out")
    write(tmp_path / "metadata.csv", f"File|Text|Speaker\n{lines}")
    done = Import("ljspeech", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert done.transcripts == {f"LJ{number}.wav": f"one {number}" for number in range(10)}
    assert {row["speaker"] for row in done.all_rows} == {"s0", "s1"} and not done.left_out
    write(tmp_path / "metadata.csv", "file|text|speaker\nLJ1|one|two|s0\nLJ2|two|s1\n")
    done = Import("ljspeech", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [("two", "s1")]
    assert done.left_out == {"metadata.csv:2": "more fields than the header has columns"}
    write(tmp_path / "metadata.csv", "id|transcript|normalized transcript\nLJ1|Dr. A|doctor a\nLJ2|two|\n")
    done = Import("ljspeech", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert done.transcripts == {"LJ1.wav": "doctor a", "LJ2.wav": "two"}


def test_ljspeech_refuses_lengths_for_transcripts(tmp_path: Path) -> None:
    for number in range(4):
        tone(tmp_path / "wavs" / f"LJ{number}.wav")
    lengths = "".join(f"wavs/LJ{number}.wav|one {number}|{number}.5\n" for number in range(4))
    write(tmp_path / "metadata.csv", lengths)
    with pytest.raises(ImportingError, match=r"only 0\.5, 1\.5, 2\.5 …, as if it gave lengths; .*file\|text\|seconds$"):
        Import("ljspeech", tmp_path, tmp_path / "out")
    write(tmp_path / "metadata.csv", f"file|text|seconds\n{lengths}")
    done = Import("ljspeech", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert done.transcripts == {f"LJ{number}.wav": f"one {number}" for number in range(4)}
