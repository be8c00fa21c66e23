"""Text files of a corpus, line by line, each with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ...corpus_files.lines import numbered_fields, numbered_lines
from ...errors import CorpusError, ImportingError


def read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the place, as in "validated.tsv:12", and the text of each line that is not blank. Raise CorpusError."""
    for number, line in numbered_lines(path):
        yield f"{path.name}:{number}", line


def read_table(path: Path, required: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, str], int]]:
    """Yield the rows of a tab-separated table: place, fields by the names in the first line, number of surplus fields.

    Quotes are plain characters. Missing fields of a row are empty. Raise ImportingError, as a table without the columns
    `required` is one of another format.
    """
    try:
        for number, row, surplus in numbered_fields(path, required):
            yield f"{path.name}:{number}", row, surplus
    except CorpusError as error:
        raise ImportingError(str(error)) from error
