"""CSV files: columns wav_filename and transcript, and for parts of recordings start and duration.

In place of the first two, there may be path and sentence as in Common Voice, with clips/ beside the file. The separator
of the column names, a comma, semicolon or tab, also separates the fields.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ..errors import BadRow, CorpusError
from ..parts import Part, part_of
from ..storage.copies import joined
from ..transcripts import Normalizer
from .lines import encoding_of
from .rows import Row, new_row, seconds_of, why_not_times

REQUIRED = ("wav_filename", "transcript")
"""In any order; other columns are ignored."""
COLUMNS = (*REQUIRED, "wav_filesize")
"""The columns of DeepSpeech's corpora. Sizes are taken from the files themselves."""
COMMON_VOICE = ("path", "sentence")
CLIPS = "clips"
STARTS = ("start", "offset")
"""Names of the column with the begin of an utterance in its recording, in seconds; the first that exists counts.
A row without a start is the whole recording, whatever its duration is."""
DURATION = "duration"
OTHER_COLUMNS = (
    "; rename its columns, or import its folder, which reads other names: "
    "python -m deepspeech.import_corpus table --from FOLDER --to CORPUS"
)
"""What to do with a table that lacks columns."""
END = "end"
"""The column of other programs' lists in place of a duration."""

_SEPARATORS = (",", ";", "\t")


def read_rows(path: Path, normalizer: Normalizer | None) -> Iterator[Row | BadRow]:
    """Yield the rows of one CSV file, numbered by their first line, without spaces that separate no words.

    If the names of columns begin with spaces, spaces at the beginning of fields are ignored. Raise CorpusError.
    """
    with _opened(path) as table:
        header = table.header
        names = names_in(header)
        filename, transcript = (_column(path, header, name, OTHER_COLUMNS) for name in names)
        times = _columns_of_times(path, header)
        csv_file, folder = str(path), path.parent
        recording_of = clip_path if names == COMMON_VOICE else joined
        for line, fields in table:
            if len(fields) == len(header):
                wav = recording_of(folder, fields[filename]) if fields[filename] else ""
                part = part_of_fields([fields[column] for column in times]) if times else None
                if isinstance(part, str):
                    yield Row(csv_file, line, "", "").bad(f"{wav}: {part}")
                else:
                    yield new_row(csv_file, line, wav, fields[transcript], normalizer, part)
            elif fields:
                yield Row(csv_file, line, "", "").bad(
                    f"{len(fields)} fields where the header has {len(header)} columns"
                )


def further_columns(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line of each readable row, and its values in columns that training does not read.

    Raise CorpusError.
    """
    with _opened(path) as table:
        header = table.header
        read = {*STARTS, *COLUMNS, *names_in(header)}
        further = [place for place, name in enumerate(header) if name and name not in read]
        for line, fields in table if further else ():
            if len(fields) == len(header):
                yield line, {header[place]: fields[place].strip() for place in further}


def has_columns(path: Path) -> bool:
    """Return whether a table has a column of utterances, or cannot be read; other functions report why it cannot."""
    try:
        header = columns_in(path)
    except CorpusError:
        return True
    return not set(REQUIRED).isdisjoint(header) or set(COMMON_VOICE) <= set(header)


def columns_in(path: Path) -> list[str]:
    """Return the names of a CSV file's columns. Raise CorpusError."""
    with _opened(path) as table:
        return table.header


def recordings_in(path: Path) -> Iterator[tuple[str, Part | None]]:
    """Yield the recordings, or parts, that a CSV file names in wav_filename, the only required column.

    Raise CorpusError.
    """
    with _opened(path) as table:
        filename, *times = _column(path, table.header, REQUIRED[0]), *_columns_of_times(path, table.header)
        for line, fields in table:
            if len(fields) > filename and fields[filename]:
                part = part_of_fields([fields[column] if column < len(fields) else "" for column in times] or [""])
                if isinstance(part, str):
                    raise CorpusError(f"{path}:{line}: {part}")
                yield joined(path.parent, fields[filename]), part


def names_in(header: Collection[str]) -> tuple[str, str]:
    """Return the names of the columns of recordings and transcripts; REQUIRED if no known ones exist."""
    return COMMON_VOICE if set(COMMON_VOICE) <= set(header) and not set(REQUIRED) <= set(header) else REQUIRED


def clip_path(folder: Path, name: str) -> str:
    """Return the path of a recording in a table of Common Voice in a folder; releases before 2019 omit .mp3.

    Common Voice names only files. A name with a folder, in another table with these columns, is relative to `folder`.
    """
    if "/" in name:
        return joined(folder, name)
    return os.path.join(folder, CLIPS, name if "." in name else f"{name}.mp3")  # noqa: PTH118 (a Path takes longer)


def part_of_fields(fields: Sequence[str]) -> Part | str | None:
    """Return the part given by the fields start and, if there is one, duration, or what is wrong with them.

    If the start is empty, return None, the whole recording.
    """
    start, duration = (*(field.strip() for field in fields), "")[:2]
    if not start:
        return None
    try:
        times = seconds_of(start), seconds_of(duration) if duration else None
    except ValueError:
        return f"a start and a duration must be numbers, and not {start!r} and {duration!r}"
    return why_not_times(*times) or part_of(*times)


class _Table:
    """An open CSV file: the names of its columns, and its rows, each with its first line's number."""

    def __init__(self, file: TextIO) -> None:
        """Read the names; raise csv.Error."""
        separator = _separator(file.readline())
        file.seek(0)
        reader = csv.reader(file, strict=True, delimiter=separator)
        names = next(reader, [])
        spaced = any(name.startswith(" ") for name in names)
        self.header = [column.strip() for column in names]
        self.line = self._first_line = reader.line_num + 1
        """The first line of the current row."""
        self._reader = csv.reader(file, strict=True, delimiter=separator, skipinitialspace=spaced)

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        for fields in self._reader:
            yield self.line, fields
            self.line = self._first_line + self._reader.line_num


@contextmanager
def _opened(path: Path) -> Iterator[_Table]:
    """Open a CSV file; raise CorpusError, also for errors while it is read."""
    table: _Table | None = None
    try:
        with path.open(newline="", encoding=encoding_of(path)) as file:
            table = _Table(file)
            yield table
    except OSError as error:
        raise CorpusError(f"{path}: cannot read the CSV: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path}:{_first_bad_line(path)}: not UTF-8; save the CSV as UTF-8") from error
    except csv.Error as error:
        line = table.line if table else 1
        raise CorpusError(f"{path}:{line}: malformed CSV in the row that starts here: {error}") from error


def _separator(names: str) -> str:
    """Return the separator of the column names in a line: a comma, unless another one gives known names."""
    for separator in _SEPARATORS:
        header = {name.strip().strip('"') for name in names.split(separator)}
        if REQUIRED[0] in header or set(COMMON_VOICE) <= header:
            return separator
    return _SEPARATORS[0]


def check_times(path: Path, names: Collection[str]) -> None:
    """Raise CorpusError for a list whose columns give the ends of utterances instead of durations."""
    if END in names and DURATION not in names and not set(STARTS).isdisjoint(names):
        raise CorpusError(
            f"{path}:1: a column {END}, and none named {DURATION}, without which utterances reach to the end of their "
            f"recordings; write the seconds from start to end into a column {DURATION}"
        )


def _columns_of_times(path: Path, header: list[str]) -> list[int]:
    """Return the columns of start and duration; none if there is no start. Raise CorpusError."""
    start = next((name for name in STARTS if name in header), None)
    if start is None:
        return []
    check_times(path, header)
    return [_column(path, header, name) for name in (start, DURATION) if name in header]


def _column(path: Path, header: list[str], name: str, if_missing: str = "") -> int:
    if header.count(name) != 1:
        problem, advice = ("more than one column", "") if name in header else ("no column", if_missing)
        raise CorpusError(f"{path}:1: {problem} {name}; found: {', '.join(header) or 'none'}{advice}")
    return header.index(name)


def _first_bad_line(path: Path) -> int:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.decode("utf-8", "ignore").encode() != line:
                return number
    return 0
