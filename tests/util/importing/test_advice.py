"""What is said about folders whose transcripts are not read."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.cli.importing.corpus import main
from deepspeech.util.errors import CorpusError, ImportingError
from deepspeech.util.importing import format_of, import_corpus
from deepspeech.util.importing.pipeline.records import Choices


def advice(folder: Path) -> str:
    with pytest.raises(ImportingError) as error:
        format_of(folder, Choices())
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a.stm": b"a 1 ann 0.0 0.5 <NA> caf\xe9\n"}, r"a\.stm:1: not UTF-8; save it as UTF-8"),
        (
            {"a.yaml": b"- {offset: 0, duration: 1, wav: a.wav}\n", "a.en": b"one\ntwo\n"},
            r"a\.en has 2 lines",
        ),
        ({"supervisions.jsonl": b'{"recording_id": "a"}'}, r"there is no recordings\.jsonl beside it"),
        ({"GigaSpeech.json": b'{"audios": [{'}, "malformed, or cut off"),
        ({"a.xml": b'<segments><segment starttime="0">'}, "cannot be read as XML"),
    ],
)
def test_what_is_wrong_with_a_list_is_told_if_nothing_else_is_found(
    files: Mapping[str, bytes], told: str, tmp_path: Path
) -> None:
    tone(tmp_path / "a.wav")
    for name, content in files.items():
        write(tmp_path / name, content)
    with pytest.raises(CorpusError, match=told):
        format_of(tmp_path, Choices())


@pytest.mark.parametrize(
    ("file", "line", "told"),
    [
        ("metadata.jsonl", '{"file_name": "a.wav", "caption": "yes"}', r"audio_folder, .* none of transcription"),
        ("a.stm", "a 1 ann 0.0 yes", r"tedlium, .* a malformed line of an \.stm"),
    ],
)
def test_why_no_row_can_be_imported_is_told(file: str, line: str, told: str, tmp_path: Path) -> None:
    tone(tmp_path / "a.wav")
    write(tmp_path / file, line)
    assert re.search(told, advice(tmp_path))


def test_a_spreadsheet_is_named(tmp_path: Path) -> None:
    tone(tmp_path / "a.wav")
    write(tmp_path / "list.xlsx", b"PK\3\4")
    assert advice(tmp_path) == f"{tmp_path}/list.xlsx: a spreadsheet; save it as CSV, in UTF-8, and import again"


@pytest.mark.parametrize("texts", ["texts.txt", ""])
def test_the_command_that_is_advised_makes_a_table(texts: str, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    names = ("1.wav", "2.wav") if texts else ("good morning.wav", "how are you.wav")
    for name in names:
        tone(folder / name)
    if texts:
        write(folder / texts, "good morning\nhow are you\n")
    _, _, command = advice(folder).partition(": ")
    subprocess.run(["bash", "-c", command], cwd=folder, env=os.environ, check=True)
    assert format_of(folder, Choices()) == "table"
    done = Import("table", folder, tmp_path / "out")
    assert done.transcripts == dict(zip(names, ("good morning", "how are you"), strict=True))


def test_the_command_that_is_advised_completes_a_directory_of_kaldi(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    tone(folder / "wav" / "talk.wav", 3)
    write(folder / "text", "u1 good morning\n")
    write(folder / "segments", "u1 talk 0.5 1.5\n")
    write(folder / "README.md", "About\nthis\n")
    _, _, command = advice(folder).partition("; write it: ")
    subprocess.run(["bash", "-c", command], cwd=folder, env=os.environ, check=True)
    (row,) = Import(format_of(folder, Choices()), folder, tmp_path / "out", Choices(split=(1, 0, 0))).all_rows
    assert (row["transcript"], row["duration"]) == ("good morning", "1.000")


def test_recordings_of_an_stm_may_be_in_another_folder(tmp_path: Path) -> None:
    tone(tmp_path / "corpus" / "wav" / "talk.wav", 3)
    write(tmp_path / "corpus" / "all.stm", "talk 1 ann 0.5 1.5 <o> good morning\n")
    (row,) = Import("tedlium", tmp_path / "corpus", tmp_path / "out", Choices(split=(1, 0, 0))).all_rows
    assert (row["transcript"], row["speaker"], row["duration"]) == ("good morning", "ann", "1.000")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            ["here"],
            "argument FORMAT: here is no format; name the folder of the recordings with --from here; see",
        ),
        (["list"], "there is no corpus 'list'; there are aishell, "),
        (["--from", "a.csv", "--to", "corpus"], "or their archive; lists of utterances are the format lists"),
    ],
)
def test_what_is_no_format_or_folder_is_refused_with_what_is_needed(
    given: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "a.csv").touch()
    monkeypatch.chdir(tmp_path)
    assert main(given) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


def test_the_format_of_a_folder_that_has_another_one_is_named(tmp_path: Path) -> None:
    tone(tmp_path / "corpus" / "a.wav")
    write(tmp_path / "corpus" / "a.txt", "good morning\n")
    with pytest.raises(ImportingError, match=r"so it isn't laid out as LibriSpeech is; its format is folder$"):
        import_corpus("librispeech", tmp_path / "out", tmp_path / "corpus")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ImportingError, match=r"so it isn't fsdd$"):
        import_corpus("fsdd", tmp_path / "out", tmp_path / "empty")
