"""Text files of a corpus, line by line, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ...corpus_files.lines import numbered_fields, numbered_lines
from ...errors import CorpusError, ImportingError


def read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each line that is not blank, after where it stands, as in "validated.tsv:12". Raise ImportingError."""
    try:
        for number, line in numbered_lines(path):
            yield f"{path.name}:{number}", line
    except CorpusError as error:
        raise ImportingError(str(error)) from error


def read_table(path: Path, required: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, str], int]]:
    """Yield the rows of a table whose columns are separated by tabs, by the names in its first line.

    Each is behind where it stands, and before the number of fields that it has too many. Quotes stand for themselves.
    Fields that a row lacks are empty. Raise ImportingError.
    """
    try:
        for number, row, surplus in numbered_fields(path, required):
            yield f"{path.name}:{number}", row, surplus
    except CorpusError as error:
        raise ImportingError(str(error)) from error
