"""CSV files whose lines end with only a line feed."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any, TextIO

_END = "\r\n"


def csv_writer(file: TextIO) -> Any:
    """Return a `csv.writer` of such lines to a file that is open with `newline=""`.

    It quotes fields with a line break of any kind. Python's own writer does so only from 3.13 on; before, it quotes
    fields with the characters of its line end.
    """
    return csv.writer(_LineFeeds(file), lineterminator=_END)


@dataclass(frozen=True)
class _LineFeeds:
    """Takes single lines that end with _END."""

    file: TextIO

    def write(self, line: str) -> int:
        return self.file.write(f"{line.removesuffix(_END)}\n")
