"""Lists as training reads them: CSV, TSV and JSON-lines files, or a data directory of Kaldi's.

The named files are read. In a folder, these are the *.csv, *.tsv, *.json and *.jsonl whose names contain sets
(train.csv), or all of them if no name does. Shards are not imported: train on them directly. The columns in
`deepspeech.util.corpus_files.speakers` give the speakers.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterator
from pathlib import Path

from ....corpus_files import FORMATS, TABLES, further_columns, listing, read_files
from ....corpus_files.csv_files import has_columns
from ....corpus_files.kaldi import is_directory_of_kaldi, read_entries
from ....corpus_files.rows import Row
from ....corpus_files.shards import SUFFIX, is_shard
from ....corpus_files.speakers import names_speaker, speaker_of
from ....errors import ImportingError
from ....files.folders import files_like
from ....parts import WHOLE
from ...pipeline.folders import named_as_sets, set_of_name, tests_first, without_notes_on_recordings
from ...pipeline.output import LEFT_OUT_FILE
from ...pipeline.records import Choices, Item, LeftOut, Record, item_of

log = logging.getLogger(__name__)

ENDINGS = (".csv", *(ending for ending in FORMATS if ending != SUFFIX))


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of the lists; raise ImportingError if there are none or one is a folder, or CorpusError."""
    for path in choices.lists:
        if path.is_dir() and not is_directory_of_kaldi(path):
            raise ImportingError(
                f"{path} is a folder, and only lists are imported together; put the folders, or links to them, into one"
            )
    lists = choices.lists or _lists_in(source)
    sets = {path: set_of_name(path.stem) for path in lists}
    for path in tests_first(lists, sets):
        if is_directory_of_kaldi(path):  # whose utterances may be on one channel of a recording, as no row is
            yield from (item_of(entry, path.name, sets[path]) for entry in read_entries(path))
        else:
            yield from (_item(row, columns, path) for row, columns in rows_of(path))


def _lists_in(folder: Path) -> tuple[Path, ...]:
    """Return the lists in a folder, or the folder itself if it is a data directory of Kaldi; raise ImportingError."""
    if is_directory_of_kaldi(folder):
        return (folder,)
    found = tuple(path for path in without_notes_on_recordings(files_like(folder, "*")) if _is_list(path))
    if not found:
        raise ImportingError(
            f"{folder} has no lists, {', '.join(ENDINGS)}; recordings with a text beside each have the format folder"
        )
    named = tuple(named_as_sets(found))
    return named if any(set_of_name(path.name) for path in named) else _with_columns(found)


def _is_list(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and path.name != LEFT_OUT_FILE and path.is_file()


def _with_columns(found: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the lists without tables of other data, which a warning names; all of them if none would remain."""
    lists = tuple(path for path in found if path.suffix.lower() not in TABLES or has_columns(path))
    for path in found if lists else ():
        if path not in lists:
            log.warning("%s: not read: it has no columns wav_filename and transcript", path)
    return lists or found


def rows_of(path: Path) -> Iterator[tuple[Row | LeftOut, dict[str, str]]]:
    """Yield each row of a list unchanged, with its further columns.

    Raise CorpusError, or ImportingError for a shard, whose recordings have no files of their own.
    """
    if is_shard(path):
        raise ImportingError(
            f"{path}: a shard, whose recordings have no files of their own; give a list of files, or name the shard "
            "with --train_files to train on it as it is"
        )
    further = further_columns(str(listing(path)))
    line, columns = 0, dict[str, str]()
    for row in read_files([path], None):
        if not isinstance(row, Row):
            yield (
                LeftOut(f"{path.name}:{row.source.rpartition(':')[2]}", "a row that cannot be read", detail=row.reason),
                {},
            )
            continue
        while line < row.line:
            line, columns = next(further, (row.line, {}))
        yield row, columns if line == row.line else {}
        if line == row.line:  # the next row may be of this line, too
            line, columns = next(further, (line, {}))


def _item(row: Row | LeftOut, columns: dict[str, str], path: Path) -> Item:
    if isinstance(row, LeftOut):
        return row
    where = f"{path.name}:{row.line}"
    if not row.path:
        return LeftOut(where, "no wav_filename")
    part = row.part or WHOLE
    try:
        recording = os.path.realpath(row.path)
    except ValueError as error:
        return LeftOut(where, "a name that no file can have", "", f"{row.path!r}: {error}")
    return Record(
        recording,
        row.transcript,
        where,
        speaker_of(columns),
        set_of_name(path.stem),
        part.start,
        None if math.isinf(part.end) else part.end - part.start,
        {name: text for name, text in columns.items() if not names_speaker(name)},
    )
