"""Folders as `datasets` reads them by the name audiofolder: metadata.csv or metadata.jsonl beside the recordings.

The metadata is in the folder, or in the folder of each set (train/metadata.csv). In each row, `file_name` is the
recording, relative to the folder of the metadata. The transcript is the first existing one of transcription,
transcript, text and sentence. The folders in a recording's path give its set (train, validation, test). Other texts and
numbers become columns.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ....corpus_files.json_lines import columns_of, texts_of
from ....corpus_files.lines import encoding_of, numbered_lines
from ....corpus_files.speakers import speaker_of
from ....errors import ImportingError
from ....files.folders import walk
from ...pipeline.folders import set_of_name
from ...pipeline.records import SURPLUS, Choices, Item, LeftOut, Record

_FILE = "file_name"
_TEXTS = ("transcription", "transcript", "text", "sentence")


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of all metadata in a folder; raise ImportingError if there is none, or CorpusError."""
    readers = {"metadata.csv": _rows_of_csv, "metadata.jsonl": _rows_of_json}
    found = False
    for folder, files in walk(source):
        name = next((name for name in readers if name in files), None)
        if name is None:
            continue
        found = True
        path = Path(folder, name)
        for line, values in readers[name](path):
            yield _item(source, path, line, values)
    if not found:
        raise ImportingError(f"{source} has no {' or '.join(readers)}, nor has a folder in it")


def _rows_of_csv(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the number of each row's last line, and its values by column; surplus values have the name None.

    Raise ImportingError.
    """
    try:
        with path.open(newline="", encoding=encoding_of(path)) as file:
            rows = csv.DictReader(file, strict=True)
            if _FILE not in (rows.fieldnames or ()):
                raise ImportingError(f"{path}: no column {_FILE}; found: {', '.join(rows.fieldnames or ())}")
            for values in rows:
                yield rows.line_num, {name: text or "" for name, text in values.items()}
    except (csv.Error, UnicodeDecodeError) as error:
        raise ImportingError(f"{path}: cannot be read as CSV: {error}") from error
    except OSError as error:
        raise ImportingError(f"{path}: {error.strerror or error}") from error


def _rows_of_json(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield each line's number and values; None if it is not JSON. Raise CorpusError."""
    for number, line in numbered_lines(path):
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            yield number, None


def _item(source: Path, path: Path, line: int, values: Any) -> Item:
    where = f"{path.relative_to(source)}:{line}"
    if not isinstance(values, Mapping):
        return LeftOut(where, "not a JSON object")
    name, text = values.get(_FILE), next((values[key] for key in _TEXTS if isinstance(values.get(key), str)), None)
    if not (isinstance(name, str) and name):
        return LeftOut(where, f"no {_FILE}")
    recording = os.path.normpath(path.parent / name)
    if text is None:
        return LeftOut(where, f"none of {', '.join(_TEXTS)}", recording)
    if None in values:
        return LeftOut(where, SURPLUS, recording)
    folders = Path(os.path.relpath(recording, source)).parts[:-1]
    official_set = next(filter(None, map(set_of_name, folders)), "")
    texts = texts_of(values)
    columns = columns_of(texts, (_FILE, *_TEXTS))
    return Record(recording, text, where, speaker_of(texts), official_set, columns=columns)
