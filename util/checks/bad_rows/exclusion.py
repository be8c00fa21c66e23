"""Lists of rows that are left out of a corpus: those of `bin/find_bad_rows.py`, or a person's own."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ...errors import CorpusError


@dataclass(frozen=True)
class Exclusions:
    """Rows that are left out: by CSV file and line, and recordings that are left out wherever they are listed."""

    files: tuple[Path, ...]
    """The lists."""
    lines: dict[tuple[Path, int], Path | None]
    """CSV file and line of each row, with its recording if the list tells it."""
    recordings: frozenset[Path]

    @classmethod
    def read(cls, files: Iterable[Path]) -> Exclusions:
        """Read CSV files with the columns csv_file and line, or else wav_filename; others are passed over.

        Relative paths are taken from the list's folder. Raise CorpusError for a file that lacks them or is unreadable.
        """
        lists = tuple(files)
        lines: dict[tuple[Path, int], Path | None] = {}
        recordings: set[Path] = set()
        for path in lists:
            for number, row in _rows(path):
                wav, csv_file, line = (row.get(name) or "" for name in ("wav_filename", "csv_file", "line"))
                recording = (path.parent / wav).resolve() if wav else None
                if csv_file and line.isdecimal():
                    lines[(path.parent / csv_file).resolve(), int(line)] = recording
                elif recording is not None and not csv_file and not line:
                    recordings.add(recording)
                else:
                    raise CorpusError(f"{path}:{number}: neither the csv_file and line of a row nor a wav_filename")
        return cls(lists, lines, frozenset(recordings))

    def __contains__(self, row: tuple[str, int, str]) -> bool:
        """Return whether a row, its CSV file, line and recording, is left out.

        Raise CorpusError if the list names another recording for this line, as the CSV has changed since.
        """
        if row[1] not in self._line_numbers and not self.recordings:  # spares a million rows the file system
            return False
        csv_file, line, recording = Path(row[0]).resolve(), row[1], Path(row[2]).resolve()
        listed = self.lines.get((csv_file, line), recording)
        if listed is not None and listed != recording:
            raise CorpusError(
                f"{', '.join(map(str, self.files))}: names {listed} for {row[0]}:{line}, where {recording} is now; "
                "make the list anew"
            )
        return (csv_file, line) in self.lines or recording in self.recordings

    @cached_property
    def _line_numbers(self) -> frozenset[int]:
        return frozenset(line for _, line in self.lines)


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
