"""TSV files, separated by tabs: the columns of CSV files, or path and sentence as in Common Voice, with clips/ beside.

Quotes are plain characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..errors import BadRow
from ..storage.copies import joined
from ..transcripts import Normalizer
from .csv_files import (
    COLUMNS,
    COMMON_VOICE,
    DURATION,
    OTHER_COLUMNS,
    REQUIRED,
    STARTS,
    check_times,
    clip_path,
    names_in,
    part_of_fields,
)
from .lines import numbered_fields
from .rows import Row, new_row


def read_rows(path: Path, normalizer: Normalizer | None) -> Iterator[Row | BadRow]:
    """Yield the rows of one TSV file. Raise CorpusError."""
    for line, fields, surplus in numbered_fields(path, REQUIRED, COMMON_VOICE, if_missing=OTHER_COLUMNS):
        check_times(path, fields)
        name, transcript = names_in(fields)
        row = Row(str(path), line, "", "")
        if surplus:
            yield row.bad(f"{surplus} fields more than the header has columns")
        elif not fields[name]:
            yield row.bad(f"no {name}")
        else:
            recording = (clip_path if name == COMMON_VOICE[0] else joined)(path.parent, fields[name])
            start = next((fields[column] for column in STARTS if column in fields), "")
            part = part_of_fields((start, fields.get(DURATION, "")))
            if isinstance(part, str):
                yield row.bad(f"{recording}: {part}")
            else:
                yield new_row(str(path), line, recording, fields[transcript], normalizer, part)


def further_columns(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line of each row, and its values in columns that training does not read. Raise CorpusError."""
    read = {*COLUMNS, *COMMON_VOICE, *STARTS}
    for line, fields, _ in numbered_fields(path, REQUIRED, COMMON_VOICE):
        yield line, {name: field.strip() for name, field in fields.items() if name and name not in read}
