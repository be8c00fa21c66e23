"""The output of an import: a CSV of each set, and a list of the rows that were left out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

from ...corpus_files.csv_files import STARTS
from ...figures.counted import counted
from ...files.csv_lines import csv_writer
from ...files.whole_files import written_whole
from ...progress import duration
from ..corpus_csv import COLUMNS
from .recordings import Imported
from .records import SETS, LeftOut

FURTHER_COLUMNS = ("speaker", "duration")
"""The speaker may be empty; the duration is in seconds. The corpus's own columns follow."""

READ_IN_TRAINING = {*COLUMNS, *FURTHER_COLUMNS, *STARTS}
"""Columns that training would read as those of the utterance, so that none of the corpus's own may have their names."""

LEFT_OUT_FILE = "left_out.csv"
_LEFT_OUT_COLUMNS = ("source", "reason", "wav_filename", "detail")
_MOST_REASONS = 1000

LONG_SECONDS = 60.0
"""Utterances of more seconds are remarked on: to train on them takes much memory, and teaches little."""


@dataclass
class Written:
    """The contents of a set's CSV."""

    path: Path
    utterances: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.path}: {counted(self.utterances, 'utterance')}, {duration(self.seconds)}"


class SetFiles:
    """The CSVs of the sets in a folder; they get their names when the block ends without an error.

    Only sets with rows get a file; the file of an earlier import is deleted if its set now has no rows.
    """

    def __init__(self, out: Path, columns: Sequence[str]) -> None:
        """Take the names of the corpus's own columns as `columns`."""
        self._out = out
        self._columns = tuple(columns)
        self._prefix = f"{out}{os.sep}"
        self._files = ExitStack()
        self._writers: dict[str, Any] = {}
        self.written: dict[str, Written] = {}
        self._long = 0
        self._longest = ("", LONG_SECONDS)

    def __enter__(self) -> SetFiles:
        return self

    def __exit__(self, *error: Any) -> None:
        self._files.__exit__(*error)
        if error[0] is None and self.written:
            for name in set(SETS) - set(self.written):
                (self._out / f"{name}.csv").unlink(missing_ok=True)

    def write(self, name: str, row: Imported) -> None:
        """Write a row into the CSV of a set."""
        if name not in self._writers:
            self._open(name)
        record = row.record
        values = [row.path.removeprefix(self._prefix), row.size, record.transcript, record.speaker]
        values += [f"{row.duration:.3f}", *(record.columns.get(column, "") for column in self._columns)]
        self._writers[name].writerow(values)
        self.written[name].utterances += 1
        self.written[name].seconds += row.duration
        self._long += row.duration > LONG_SECONDS
        self._longest = max(self._longest, (row.path, row.duration), key=itemgetter(1))

    def summary(self) -> list[str]:
        """Return a line for each set, if there are any, and one on utterances that are too long."""
        lines = [
            str(self.written.get(name) or f"{self._out / name}.csv: not written, as it has no rows")
            for name in (SETS if self.written else ())
        ]
        if self._long:
            path, seconds = self._longest
            lines.append(
                f"longer than a minute: {counted(self._long, 'utterance')}, up to {seconds / 60:.1f} minutes ({path}); "
                "training needs utterances of seconds: docs/alignment.md says how to cut long recordings"
            )
        return lines

    def _open(self, name: str) -> None:
        path = self._out / f"{name}.csv"
        self._writers[name] = _writer(path, (*COLUMNS, *FURTHER_COLUMNS, *self._columns), self._files)
        self.written[name] = Written(path)


def _writer(path: Path, columns: Sequence[str], files: ExitStack) -> Any:
    """Return the writer of a new CSV, which gets its name when `files` is closed without an error."""
    beside = files.enter_context(written_whole(path))
    writer = csv_writer(files.enter_context(beside.open("w", encoding="utf-8", errors="backslashreplace", newline="")))
    writer.writerow(columns)
    return writer


@dataclass
class _Reason:
    rows: int
    example: LeftOut


@dataclass
class LeftOutFile:
    """The list of the rows that are left out, with their number for each reason."""

    path: Path
    rows: int = 0
    _reasons: dict[str, _Reason] = field(default_factory=dict)
    _files: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> LeftOutFile:
        for unfinished in self.path.parent.glob(".*.csv.part-*"):  # of an import that was killed
            unfinished.unlink()
        self._writer = _writer(self.path, _LEFT_OUT_COLUMNS, self._files)
        return self

    def __exit__(self, *error: Any) -> None:
        self._files.__exit__(*error)

    def write(self, row: LeftOut) -> None:
        """List a row."""
        self._writer.writerow((row.source, row.reason, row.path, row.detail))
        self.rows += 1
        if row.reason in self._reasons:
            self._reasons[row.reason].rows += 1
        elif len(self._reasons) < _MOST_REASONS:
            self._reasons[row.reason] = _Reason(1, row)

    def table(self, rows: int) -> list[str]:
        """Return a table of how many of all `rows` are left out, and why, the most frequent reason first."""
        if not self.rows:
            return ["nothing was left out"]
        reasons = sorted(self._reasons.items(), key=lambda item: -item[1].rows)
        width = max(len("reason"), *(len(reason) for reason, _ in reasons))
        lines = [
            f"left out: {self.rows} of {counted(rows, 'row')}, listed in {self.path}",
            f"  {'reason':{width}}     rows  example",
        ]
        for reason, found in reasons:
            example = ": ".join(filter(None, (found.example.source, found.example.detail)))
            lines.append(f"  {reason:{width}} {found.rows:8d}  {example}")
        return lines
