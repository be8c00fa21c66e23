"""Lists of utterances: CSV and TSV files, JSON-lines manifests, data directories of Kaldi, and tar shards.

Recordings are not read, except those inside shards. Lists at addresses are fetched. To add a format, write a module
with `read_rows` and `further_columns`, and add a line to `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Protocol

from ..errors import BadRow, CorpusError, StorageError
from ..files.folders import files_like
from ..storage.copies import fetch_missing, local_path, named_for_all, refresh
from ..transcripts import Normalizer
from . import csv_files, json_lines, kaldi, shards, tsv_files
from .rows import Row

__all__ = [
    "FORMATS",
    "TABLES",
    "Row",
    "columns_by_line",
    "fetched",
    "files_of",
    "further_columns",
    "has_transcripts",
    "listing",
    "read_files",
    "read_transcripts",
    "told_by_address",
]


class Format(Protocol):
    """A module that reads a format of lists."""

    def read_rows(self, path: Path, normalizer: Normalizer | None) -> Iterator[Row | BadRow]:
        """Yield the rows of a list; raise CorpusError."""

    def further_columns(self, path: Path) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield the line of each readable row, and its values that training does not read."""


FORMATS: Mapping[str, Format] = {
    ".tsv": tsv_files,
    **dict.fromkeys((".json", ".jsonl", ".list"), json_lines),
    shards.SUFFIX: shards,
}
"""By the ending of a list's name; any other file is a CSV, and a folder is a data directory of Kaldi."""

TABLES = (".csv", ".tsv")
"""The endings of lists whose columns have names."""

SAMPLE_DATABASE = ".sdb"
"""The ending of DeepSpeech's and Coqui STT's archives of utterances, which are not read."""


def listing(path: Path) -> Path:
    """Return the file whose lines are the rows of a list: the list itself, or the `text` of a directory of Kaldi."""
    return path / kaldi.TEXT if kaldi.is_directory_of_kaldi(path) else path


def has_transcripts(path: Path) -> bool:
    """Return whether a file is a list of utterances, by its name and, for a CSV or TSV, the names of its columns.

    A directory of Kaldi is one, and shards are none. Raise CorpusError for a CSV or TSV that cannot be read.
    """
    if path.suffix.lower() in TABLES:
        copy = fetched(path)
        with told_by_address(copy):
            columns = csv_files.columns_in(copy)
        return set(csv_files.names_in(columns)) <= set(columns)
    return not shards.is_shard(path) and _format_of(listing(path)) is not csv_files


def fetched(path: Path) -> Path:
    """Return the path of the current copy of a file at an address, and any other path unchanged.

    Raise StorageError, also if there is no such file.
    """
    path = local_path(path)
    if refresh(path):
        fetch_missing(path)
    return path


def files_of(path: Path) -> list[Path]:
    """Return the files whose lines are the rows of a named list; a range of shards is expanded.

    For an address, return its copy. Raise CorpusError for a range that ends before it begins.
    """
    return [listing(each) for each in shards.expanded(local_path(path))]


def read_files(paths: Sequence[Path], normalizer: Normalizer | None) -> Iterator[Row | BadRow]:
    """Yield the rows of lists; raise CorpusError if there are no lists, or one is given twice or cannot be read."""
    if not paths:
        raise CorpusError("no CSV files given")
    seen = set()
    for path in chain.from_iterable(map(files_of, paths)):
        if (resolved := path.resolve()) in seen:
            raise CorpusError(f"{named_for_all(path)}: given twice")
        seen.add(resolved)
        with told_by_address(path):
            yield from _rows_of(path, normalizer)


def read_transcripts(csv_files: Sequence[Path], normalizer: Normalizer | None = None) -> Iterator[tuple[str, str, str]]:
    """Yield each transcript of lists: its place, its text, and what normalizing took from it.

    Rows with too few or too many fields are skipped. Raise CorpusError for a file that `read_corpus` refuses.
    """
    for row in read_files(csv_files, normalizer):
        if isinstance(row, Row):
            yield row.source, row.transcript, row.lost


def further_columns(csv_file: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line of each row of a list, and its further columns, up to the first error."""
    path = Path(csv_file)
    try:
        if not shards.is_shard(path):
            fetch_missing(path)
        yield from _format_of(path).further_columns(path)
    except (OSError, CorpusError, StorageError):
        return


def columns_by_line(csv_file: str) -> dict[int, dict[str, str]]:
    """Return what `further_columns` yields, by line; of a line with several utterances, what is the same in all."""
    found: dict[int, dict[str, str]] = {}
    for line, columns in further_columns(csv_file):
        others = found.get(line, columns)
        found[line] = {name: text for name, text in columns.items() if others.get(name) == text}
    return found


@contextmanager
def told_by_address(path: Path) -> Iterator[None]:
    """Let errors in the block name the address of a copy, and not its path here."""
    try:
        yield
    except CorpusError as error:
        raise CorpusError(str(error).replace(str(path), named_for_all(path))) from error


def _rows_of(path: Path, normalizer: Normalizer | None) -> Iterator[Row | BadRow]:
    if path.is_dir():
        if inside := _lists_in(path):
            raise CorpusError(f"{path}: is a folder; name the lists in it that are meant: {', '.join(inside)}")
        raise CorpusError(
            f"{path}: a directory without wav.scp, so not a data directory of Kaldi; to make lists of a folder of "
            "recordings, run python -m deepspeech.import_corpus auto --from FOLDER --to CORPUS"
        )
    if path.suffix.lower() == SAMPLE_DATABASE:
        raise CorpusError(
            f"{path}: sample databases of DeepSpeech are not read; make a CSV of it with DeepSpeech's "
            f"bin/data_set_tool.py {path.name} {path.stem}.csv, or import the corpus again with bin/import_corpus.py"
        )
    if not shards.is_shard(path):
        fetched(path)
    rows = _format_of(path).read_rows(path, normalizer)
    first = next(rows, None)
    if first is None:
        raise CorpusError(f"{path}: no rows{' below the column names' if _format_of(path) is csv_files else ''}")
    yield first
    yield from rows


def _lists_in(folder: Path) -> list[str]:
    """Return the CSV and TSV files of a folder that are lists of utterances; none of the copies of an address."""
    if named_for_all(folder) != str(folder):
        return []
    found = []
    for table in (each for each in files_like(folder, "*") if each.suffix.lower() in TABLES):
        with suppress(CorpusError):
            found += [str(table)] * has_transcripts(table)
    return found


def _format_of(path: Path) -> Format:
    if path.name == kaldi.TEXT and kaldi.is_directory_of_kaldi(path.parent):
        return kaldi
    return FORMATS.get(path.suffix.lower(), csv_files)
