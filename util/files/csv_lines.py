"""CSV files whose lines end with only a line feed."""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from typing import Any, TextIO

_END = "\r\n"

_ESCAPE = None if sys.version_info >= (3, 11) else "\uffff"
"""A character that no text has: Python 3.10 takes the null character, which a list can have in a name, as one."""


def csv_writer(file: TextIO) -> Any:
    """Return a `csv.writer` of such lines to a file that is open with `newline=""`.

    It quotes fields with a line break of any kind. Python's own writer does so only from 3.13 on; before, it quotes
    fields with the characters of its line end.
    """
    return csv.writer(_LineFeeds(file), lineterminator=_END, escapechar=_ESCAPE)


@dataclass(frozen=True)
class _LineFeeds:
    """Takes single lines that end with _END."""

    file: TextIO

    def write(self, line: str) -> int:
        return self.file.write(f"{line.removesuffix(_END)}\n")
