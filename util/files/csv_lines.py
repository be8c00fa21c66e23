"""CSV files whose lines end with a line feed alone."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any, TextIO

_END = "\r\n"


def csv_writer(file: TextIO) -> Any:
    """Return a `csv.writer` of such lines to a file that is open with `newline=""`.

    It quotes what has a line break of any kind, which Python's own does only from 3.13 on: before, it looks for the
    characters that its lines end with.
    """
    return csv.writer(_LineFeeds(file), lineterminator=_END)


@dataclass(frozen=True)
class _LineFeeds:
    """Takes lines one by one that end with _END."""

    file: TextIO

    def write(self, line: str) -> int:
        return self.file.write(f"{line.removesuffix(_END)}\n")
