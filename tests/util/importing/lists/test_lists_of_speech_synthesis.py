"""Lists of several speakers as toolkits for speech synthesis have them, mostly without names of columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import Choices

ROWS = 32


def corpus(folder: Path, file: str, line: str, header: str = "") -> dict[str, str]:
    """Write recordings and a list with this line for each; return the transcript of each recording."""
    texts = {f"{number}.wav": f"this is the sentence {chr(97 + number % 26)} {number}" for number in range(ROWS)}
    lines = [header] if header else []
    for number, text in enumerate(texts.values()):
        tone(folder / "wavs" / f"{number}.wav", 0.1)
        lines.append(line.format(name=number, speaker=number // 8, language=("ZH", "EN")[number % 2], text=text))
    write(folder / file, "\n".join(lines))
    return texts


def speakers(done: Import) -> list[str]:
    assert not {row["speaker"] for row in done.rows("train")} & {row["speaker"] for row in done.rows("test")}
    return sorted({row["speaker"] for row in done.all_rows})


@pytest.mark.parametrize(
    ("file", "line", "header"),
    [
        ("filelist.txt", "wavs/{name}.wav|{speaker}|{text}", ""),
        ("filelist.txt", "wavs/{name}.wav|{text}|{speaker}", ""),
        ("esd.list", "wavs/{name}.wav|{speaker}|{language}|{text}", ""),
        ("metadata.csv", "{name}|{speaker}|{text}", ""),
        ("metadata.csv", "{name}|{speaker}|{text}|{text}", ""),
        ("metadata.csv", "{name}|{speaker}|{language}|{text}", ""),
        ("metadata.csv", "{name}|{text}|{speaker}", ""),
        ("metadata.csv", "wavs/{name}.wav|{text}|{speaker}", "audio_file|text|speaker_name"),
    ],
)
def test_speakers_are_found_in_any_column_and_divide_the_sets(
    file: str, line: str, header: str, tmp_path: Path
) -> None:
    texts = corpus(tmp_path / "corpus", file, line, header)
    done = Import(format_of(tmp_path / "corpus", Choices()), tmp_path / "corpus", tmp_path / "out")
    assert done.transcripts == texts
    assert speakers(done) == ["0", "1", "2", "3"]


@pytest.mark.parametrize("line", ["{name}|0|{text}", "{name}|{language}|{text}"])
def test_a_column_before_the_text_that_tells_nobody_apart_names_no_speaker(line: str, tmp_path: Path) -> None:
    texts = corpus(tmp_path / "corpus", "metadata.csv", line)
    done = Import("ljspeech", tmp_path / "corpus", tmp_path / "out")
    assert done.transcripts == texts
    assert {row["speaker"] for row in done.all_rows} == {""}


def test_emotions_and_genders_are_no_speakers(tmp_path: Path) -> None:
    for speaker in range(1, 9):
        lines = []
        for number, emotion in enumerate(("Angry", "Sad") * 2):
            name = f"{speaker:04}_{number:06}"
            tone(tmp_path / "corpus" / f"{speaker:04}" / emotion / f"{name}.wav", 0.1)
            lines.append(f"{name}\tthe sentence of {'abcd'[number]}\t{emotion}")
        write(tmp_path / "corpus" / f"{speaker:04}" / f"{speaker:04}.txt", "\n".join(lines))
    done = Import("table", tmp_path / "corpus", tmp_path / "out")
    assert speakers(done) == [f"{speaker:04}" for speaker in range(1, 9)]
