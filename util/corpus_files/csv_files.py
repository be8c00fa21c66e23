"""CSV files: columns wav_filename, wav_filesize and transcript, and for parts of recordings start and duration."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import BadRow, CorpusError
from ..parts import Part, part_of
from ..storage.copies import joined
from ..transcripts import Normalizer
from .rows import Row, new_row, why_not_times

COLUMNS = ("wav_filename", "wav_filesize", "transcript")
"""Required, in any order; others are ignored. Sizes are taken from the files themselves."""
STARTS = ("start", "offset")
"""Names of the column with the seconds at which an utterance begins in its recording; the first that is there counts.
A row without them is the whole recording, whatever its duration is."""
DURATION = "duration"


def read_rows(path: Path, normalizer: Normalizer | None) -> Iterator[Row | BadRow]:
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
            times = _columns_of_times(path, header)
            line = header_lines = reader.line_num + 1
            spaced = any(name.startswith(" ") for name in names)
            reader = csv.reader(file, strict=True, skipinitialspace=spaced)
            csv_file, folder = str(path), path.parent
            for fields in reader:
                if len(fields) == len(header):
                    wav = joined(folder, fields[filename]) if fields[filename] else ""
                    part = part_of_fields([fields[column] for column in times]) if times else None
                    if isinstance(part, str):
                        yield Row(csv_file, line, "", "").bad(f"{wav}: {part}")
                    else:
                        yield new_row(csv_file, line, wav, fields[transcript], normalizer, part)
                elif fields:
                    yield Row(csv_file, line, "", "").bad(
                        f"{len(fields)} fields where the header has {len(header)} columns"
                    )
                line = header_lines + reader.line_num
    except OSError as error:
        raise CorpusError(f"{path}: cannot read the CSV: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path}:{_first_bad_line(path)}: not UTF-8; save the CSV as UTF-8") from error
    except csv.Error as error:
        raise CorpusError(f"{path}:{line}: malformed CSV in the row that starts here: {error}") from error


def further_columns(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line of each row that can be read, and what it says in columns that training does not read.

    Raise OSError, UnicodeDecodeError or csv.Error.
    """
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, strict=True)
        header = [column.strip() for column in next(reader, [])]
        further = [place for place, name in enumerate(header) if name and name not in (*COLUMNS, *STARTS)]
        line = reader.line_num + 1
        for fields in reader if further else ():
            if len(fields) == len(header):
                yield line, {header[place]: fields[place].strip() for place in further}
            line = reader.line_num + 1


def part_of_fields(fields: Sequence[str]) -> Part | str | None:
    """Return the part that a start, and a duration if there is one, stand for, or what is wrong with them.

    None, the whole recording, if the start is empty.
    """
    start, duration = (*(field.strip() for field in fields), "")[:2]
    if not start:
        return None
    try:
        times = float(start), float(duration) if duration else None
    except ValueError:
        return f"a start and a duration must be numbers, and not {start!r} and {duration!r}"
    return why_not_times(*times) or part_of(*times)


def _columns_of_times(path: Path, header: list[str]) -> list[int]:
    """Return the columns of start and duration; none if there is no start."""
    start = next((name for name in STARTS if name in header), None)
    if start is None:
        return []
    return [_column(path, header, name) for name in (start, DURATION) if name in header]


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
