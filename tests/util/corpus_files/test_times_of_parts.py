"""The times of utterances in lists: they must be unambiguous."""

from __future__ import annotations

from pathlib import Path

import pytest

from deepspeech.util.checks.bad_rows.exclusion import Exclusions
from deepspeech.util.corpus_files import read_files
from deepspeech.util.corpus_files.rows import Row
from deepspeech.util.errors import CorpusError
from deepspeech.util.parts import Part


def table(folder: Path, ending: str, *rows: str) -> Path:
    path = folder / f"train.{ending}"
    path.write_text("\n".join(row.replace(" ", "\t" if ending == "tsv" else ",") for row in rows) + "\n")
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_table_of_starts_and_ends_is_refused_instead_of_read_to_the_end_of_its_recordings(
    ending: str, tmp_path: Path
) -> None:
    for start in ("start", "offset"):
        ends = table(tmp_path, ending, f"wav_filename transcript {start} end", "talk.flac a 12.5 14")
        with pytest.raises(
            CorpusError, match=rf"train\.{ending}:1: a column end, and none named duration.*; write the"
        ):
            list(read_files([ends], None))
    both = table(tmp_path, ending, "wav_filename transcript start end duration", "talk.flac a 12.5 14 1.5")
    assert [row.part for row in read_files([both], None) if isinstance(row, Row)] == [Part(12.5, 14.0)]
    whole = table(tmp_path, ending, "wav_filename transcript end", "talk.flac a 14")
    assert [row.part for row in read_files([whole], None) if isinstance(row, Row)] == [None]


def test_a_list_of_rows_to_leave_out_by_start_and_end_is_refused_as_it_would_leave_out_none(tmp_path: Path) -> None:
    listed = table(tmp_path, "csv", "wav_filename start end", "talk.flac 12.5 14")
    with pytest.raises(CorpusError, match="a column end, and none named duration"):
        Exclusions.read([listed])


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_comma_before_a_fraction_is_read_as_spreadsheets_write_it(ending: str, tmp_path: Path) -> None:
    listed = tmp_path / f"train.{ending}"
    lines = ["wav_filename;transcript;start;duration", "talk.flac;a;12,5;1,5"]
    listed.write_text("\n".join(line.replace(";", "\t" if ending == "tsv" else ";") for line in lines))
    assert [row.part for row in read_files([listed], None) if isinstance(row, Row)] == [Part(12.5, 14.0)]


def test_a_row_of_wenet_gives_the_end_of_its_part_in_place_of_a_duration(tmp_path: Path) -> None:
    path = tmp_path / "data.list"
    path.write_text('{"key": "u1", "wav": "talk.wav", "txt": "a b", "start": 0.5, "end": 1.25}\n')
    (row,) = read_files([path], None)
    assert isinstance(row, Row) and row.part == Part(0.5, 1.25)
