"""The rows of corpora: CSV files read line by line, without looking at the recordings."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .errors import BadRow, CorpusError
from .transcripts import Normalizer

COLUMNS = ("wav_filename", "wav_filesize", "transcript")
"""Required, in any order; others are ignored. Sizes are taken from the files themselves."""


class Row(NamedTuple):
    """A row with as many fields as its file has columns."""

    csv_file: str
    line: int
    path: str
    transcript: str
    respaced: bool = False
    """Whether the CSV has more spaces in the transcript."""
    symbols: str = ""
    """Symbols in the CSV's transcript that are said as words, and that its normalized form lacks."""

    def bad(self, reason: str, transcript: str = "") -> BadRow:
        """Return that the row cannot be used, and why."""
        one_line = reason.replace("\r", "\\r").replace("\n", "\\n")  # file names can hold line breaks
        return BadRow(f"{self.csv_file}:{self.line}", one_line, transcript)


def read_files(paths: Sequence[Path], normalizer: Normalizer | None) -> Iterator[Row | BadRow]:
    """Yield the rows of CSV files; raise CorpusError for none, for one given twice, or one that cannot be read."""
    if not paths:
        raise CorpusError("no CSV files given")
    seen = set()
    for path in paths:
        if (resolved := path.resolve()) in seen:
            raise CorpusError(f"{path}: given twice")
        seen.add(resolved)
        rows = _read_rows(path, normalizer)
        first = next(rows, None)
        if first is None:
            raise CorpusError(f"{path}: no rows below the column names")
        yield first
        yield from rows


def read_transcripts(csv_files: Sequence[Path], normalizer: Normalizer | None = None) -> Iterator[tuple[str, str, str]]:
    """Yield where each transcript of CSV files is, what it says, and the symbols that are said and it is left without.

    Rows of too few or too many fields are passed over. Raise CorpusError for a file that `read_corpus` refuses.
    """
    for row in read_files(csv_files, normalizer):
        if isinstance(row, Row):
            yield f"{row.csv_file}:{row.line}", row.transcript, row.symbols


def _read_rows(path: Path, normalizer: Normalizer | None) -> Iterator[Row | BadRow]:
    """Yield the rows of one CSV file, numbered by the line they start in, without spaces that separate no words.

    Where names of columns begin with spaces, so do the fields below, and these are not part of them.
    """
    line = 1
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            names = next(reader, [])
            header = [column.strip() for column in names]
            filename, _, transcript = (_column(path, header, name) for name in COLUMNS)
            line = header_lines = reader.line_num + 1
            spaced = any(name.startswith(" ") for name in names)
            reader = csv.reader(file, strict=True, skipinitialspace=spaced)
            for fields in reader:
                if len(fields) == len(header):
                    wav = str(path.parent / fields[filename]) if fields[filename] else ""
                    yield _row(str(path), line, wav, fields[transcript], normalizer)
                elif fields:
                    yield Row(str(path), line, "", "").bad(
                        f"{len(fields)} fields where the header has {len(header)} columns"
                    )
                line = header_lines + reader.line_num
    except OSError as error:
        raise CorpusError(f"{path}: cannot read the CSV: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path}:{_first_bad_line(path)}: not UTF-8; save the CSV as UTF-8") from error
    except csv.Error as error:
        raise CorpusError(f"{path}:{line}: malformed CSV in the row that starts here: {error}") from error


def _row(csv_file: str, line: int, wav: str, written: str, normalizer: Normalizer | None) -> Row:
    if normalizer:
        return Row(csv_file, line, wav, normalizer(written), symbols=normalizer.spoken_symbols(written))
    words = " ".join(filter(None, written.split(" ")))
    return Row(csv_file, line, wav, words, words != written)


def _column(path: Path, header: list[str], name: str) -> int:
    if header.count(name) != 1:
        problem = "more than one column" if name in header else "no column"
        raise CorpusError(f"{path}:1: {problem} {name}; found: {', '.join(header) or 'none'}")
    return header.index(name)


def _first_bad_line(path: Path) -> int:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.decode("utf-8", "ignore").encode() != line:
                return number
    return 0
