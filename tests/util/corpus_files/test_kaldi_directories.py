"""Data directories of Kaldi's in places whose names are unusual."""

from __future__ import annotations

from pathlib import Path

from deepspeech.util.corpus_files import Row, read_files
from deepspeech.util.importing.formats.lists.kaldi import read_records
from deepspeech.util.importing.pipeline.records import Choices, Record


def test_a_directory_below_a_folder_whose_name_is_not_utf_8_is_read(tmp_path: Path) -> None:
    folder = tmp_path / b"caf\xe9".decode("utf-8", "surrogateescape")
    folder.mkdir()
    (folder / "a.wav").touch()
    (folder / "wav.scp").write_text("a a.wav\n")
    (folder / "text").write_text("a hello\n")
    (row,) = read_files([folder], None)
    assert isinstance(row, Row) and (row.path, row.transcript) == (str(folder / "a.wav"), "hello")
    (record,) = read_records(folder, Choices())
    assert isinstance(record, Record) and record.path == str(folder / "a.wav")
