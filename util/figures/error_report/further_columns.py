"""What a corpus's CSV files say of their utterances beside what training reads: speaker, age, device, ...."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from ...corpus_rows import COLUMNS


def further_columns(csv_files: Iterable[str]) -> dict[tuple[str, int], dict[str, str]]:
    """Return the further columns of each row, by its file and the line that it starts in, as `read_corpus` counts.

    A row or a file that cannot be read has none: these columns are told to a person, and no result depends on them.
    """
    rows: dict[tuple[str, int], dict[str, str]] = {}
    for csv_file in csv_files:
        try:
            rows.update(_rows(csv_file))
        except (OSError, UnicodeDecodeError, csv.Error):
            continue
    return rows


def _rows(csv_file: str) -> dict[tuple[str, int], dict[str, str]]:
    rows = {}
    with Path(csv_file).open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, strict=True)
        header = [column.strip() for column in next(reader, [])]
        further = [place for place, name in enumerate(header) if name and name not in COLUMNS]
        line = reader.line_num + 1
        for fields in reader if further else ():
            if len(fields) == len(header):
                rows[csv_file, line] = {header[place]: fields[place].strip() for place in further}
            line = reader.line_num + 1
    return rows
