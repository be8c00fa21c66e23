"""Lists of rows to leave out of a corpus, written by `bin/find_bad_rows.py` or by hand."""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...corpus_files import Row, listing, told_by_address
from ...corpus_files.csv_files import DURATION, STARTS, check_times, part_of_fields
from ...errors import BadRow, CorpusError
from ...parts import Part
from ...storage.copies import joined, local_path, named_for_all

_Listed = tuple[str | None, float | None]


@dataclass(frozen=True)
class Exclusions:
    """What to leave out: rows by list and line, and recordings, or parts of them, in any list."""

    files: tuple[Path, ...]
    """The lists."""
    lines: dict[tuple[str, int], list[_Listed]]
    """CSV file and line of each row, with what lists name there: a recording and its begin in seconds, if they do."""
    recordings: dict[str, set[Part | None]]
    """The parts to leave out of each recording; None: all of it. Times are rounded to milliseconds."""
    _real_paths: _RealPaths = field(default_factory=lambda: _RealPaths())

    @classmethod
    def read(cls, files: Iterable[Path]) -> Exclusions:
        """Read CSV files with the columns csv_file and line, or else wav_filename; other columns are ignored.

        With a start, and a duration, only that part of the recording is left out. Names of recordings and CSV files are
        relative to the list's folder, or addresses, as in lists of utterances. Raise CorpusError for a file that lacks
        the columns or is unreadable.
        """
        lists = tuple(files)
        lines: defaultdict[tuple[str, int], list[_Listed]] = defaultdict(list)
        recordings: defaultdict[str, set[Part | None]] = defaultdict(set)
        real_paths = _RealPaths()
        for path in lists:
            with told_by_address(path):
                _read(path, real_paths, lines, recordings)
        return cls(lists, dict(lines), dict(recordings), real_paths)

    def remaining(self, rows: Sequence[Row | BadRow]) -> list[Row | BadRow]:
        """Return the rows that are not left out.

        Raise CorpusError if a list names another recording, or another part, than those of a line, because the CSV has
        changed since. A line may have several, as of JSON with the utterances of a document in a line.
        """
        of_lines: defaultdict[tuple[str, int], list[Row]] = defaultdict(list)
        for row in rows if self.lines else ():
            if isinstance(row, Row) and (place := self._place(row)) in self.lines:
                of_lines[place].append(row)
        for place, found in of_lines.items():
            self._check(self.lines[place], found)
        return [row for row in rows if not (isinstance(row, Row) and row in self)]

    def __contains__(self, row: Row) -> bool:
        """Return whether a row is left out."""
        listed = self.lines.get(self._place(row), ())
        if not listed and not self.recordings:  # so that most rows need no file system call
            return False
        left_out = self.recordings.get(self._real_paths.of(row.path), ())
        return None in left_out or _rounded(row.part) in left_out or any(self._names(each, row) for each in listed)

    def _check(self, listed: Iterable[_Listed], rows: Sequence[Row]) -> None:
        for each in listed:
            if not any(self._names(each, row) for row in rows):
                recording = self._real_paths.of(rows[0].path)
                named, now = _named(each[0] or recording, each[1]), _named(recording, _begin_of(rows[0]))
                raise CorpusError(
                    f"{', '.join(map(named_for_all, self.files))}: names {named} for {rows[0].source}, where {now} is "
                    "now; make the list again"
                )

    def _names(self, listed: _Listed, row: Row) -> bool:
        """Return whether what a list has for the line of a row is true of the row."""
        recording, begin = listed
        return recording in (None, self._real_paths.of(row.path)) and begin in (None, _begin_of(row))

    def _place(self, row: Row) -> tuple[str, int]:
        return self._real_paths.of_list(row.csv_file), row.line


class _RealPaths:
    """Absolute paths without links of a million files in few folders: each folder, which takes longest, once."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}
        self._lists: dict[str, str] = {}

    def of(self, path: str) -> str:
        folder, name = os.path.split(path)
        if name in ("", os.curdir, os.pardir) or os.path.islink(path):  # noqa: PTH114 (a Path takes longer)
            return os.path.realpath(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)  # noqa: PTH118 (a Path takes longer)

    def of_list(self, path: str) -> str:
        if path not in self._lists:
            self._lists[path] = os.path.realpath(listing(Path(path)))
        return self._lists[path]


def _read(
    path: Path,
    real_paths: _RealPaths,
    lines: defaultdict[tuple[str, int], list[_Listed]],
    recordings: defaultdict[str, set[Part | None]],
) -> None:
    """Add the rows of a list to what is to be left out. Raise CorpusError."""
    folder = local_path(named_for_all(path)).parent  # corpora have copies of the files beside it there
    for number, row in _rows(path):
        wav, csv_file, line = (row.get(name) or "" for name in ("wav_filename", "csv_file", "line"))
        recording = real_paths.of(joined(folder, wav)) if wav else None
        if csv_file and line.isdecimal():
            place = real_paths.of_list(joined(folder, csv_file)), int(line)
            lines[place].append((recording, _begin(path, number, row)))
        elif recording is not None and not csv_file and not line:
            recordings[recording].add(_part(path, number, row))
        else:
            raise CorpusError(f"{path}:{number}: neither the csv_file and line of a row nor a wav_filename")


def _begin_of(row: Row) -> float | None:
    return None if row.part is None else round(row.part.start, 3)


def _begin(path: Path, number: int, row: dict[str, str]) -> float | None:
    """Return where a row of a list begins in its recording, in seconds, if it says so. Raise CorpusError."""
    part = _part(path, number, {**row, DURATION: ""})
    return None if part is None else part.start


def _part(path: Path, number: int, row: dict[str, str]) -> Part | None:
    """Return the part of its recording that a row of a list names. Raise CorpusError."""
    check_times(path, row)
    start = next((row[name] for name in STARTS if row.get(name)), "")
    part = part_of_fields((start, row.get(DURATION) or ""))
    if isinstance(part, str):
        raise CorpusError(f"{path}:{number}: {part}")
    return _rounded(part)


def _named(recording: str, begin: float | None) -> str:
    name = named_for_all(recording)
    return name if begin is None else f"{name} from {begin:g} s on"


def _rounded(part: Part | None) -> Part | None:
    return None if part is None else Part(round(part.start, 3), round(part.end, 3))


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, strict=True)
            rows = [(reader.line_num, row) for row in reader]
            names = set(reader.fieldnames or ())
    except OSError as error:
        raise CorpusError(f"{path}: cannot read the list of rows to leave out: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise CorpusError(f"{path}: not a CSV in UTF-8: {error}") from error
    if not ({"csv_file", "line"} <= names or "wav_filename" in names):
        raise CorpusError(f"{path}:1: a list of rows to leave out has columns csv_file and line, or wav_filename")
    return rows
