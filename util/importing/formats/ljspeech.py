"""LJSpeech, and corpora in its layout: metadata.csv with lines NAME|TEXT or NAME|TEXT|NORMALIZED TEXT, and wavs/.

The first line may name the columns, such as file|text|speaker. If there are several texts, the normalized one is the
transcript; without names of columns, it is the last one that is not empty, and a column before it with few different
values, as in NAME|SPEAKER|TEXT, is that of the speakers. Quotes are plain characters.
metadata_train.csv, metadata_val.csv and metadata_test.csv are separate sets, and others beside them are not read.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from ...containers.endings import is_recording
from ...corpus_files.speakers import SPEAKERS, column_name
from ...errors import ImportingError
from ..pipeline.columns import TEXTS, are_facts
from ..pipeline.folders import find_recording, named_as_sets, set_of_name
from ..pipeline.lines import read_lines
from ..pipeline.records import SURPLUS, Choices, Item, LeftOut, Record

_FOLDERS = ("wavs", "wav", "clips", "")
_NAMES = (
    *("file", "filename", "file_name", "path", "wav", "audio", "audio_file", "wav_filename", "id", "file_id"),
    *("datei", "fichier", "archivo", "arquivo", "ficheiro", "файл", "文件", "文件名", "ファイル", "ファイル名"),
)

_LOOKED_AT = 1000
"""The number of lines that are checked for whether the last column may be the transcript."""
_FRACTION = re.compile(r"\d+\.\d+")
_VARIED = 8
"""A column with this many different values cannot name a few speakers."""


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of metadata.csv, or else of all metadata*.csv; raise ImportingError if there are none."""
    lists = [source / "metadata.csv"] if (source / "metadata.csv").is_file() else sorted(source.glob("metadata*.csv"))
    if not lists:
        raise ImportingError(f"{source} has no metadata.csv")
    folder = next(source / name for name in _FOLDERS if (source / name).is_dir())
    for path in named_as_sets(lists):
        header = _header(path)
        repeating = {} if header else _repeating_columns(path)
        for where, line in islice(read_lines(path), 1 if header else 0, None):
            fields = line.split("|")
            if len(fields) == 1:
                yield LeftOut(where, "a line without |", "", line)
                continue
            if header and len(fields) > len(header):
                yield LeftOut(where, SURPLUS, "", line)
                continue
            name, text, speaker = _columns(fields, header) if header else _unnamed(fields, repeating)
            yield Record(_recording(source, folder, name.strip()), text, where, speaker, set_of_name(path.stem))


def _header(path: Path) -> list[str]:
    """Return the names of the columns in lower case; none if the first line is no header."""
    _, line = next(read_lines(path), ("", ""))
    names = [column_name(name) for name in line.split("|")]
    return names if set(names) & set(_NAMES) and set(names) & set(TEXTS) else []


def _columns(fields: Sequence[str], header: Sequence[str]) -> tuple[str, str, str]:
    """Return the recording's name, the transcript and the speaker of a line; each is empty if missing."""
    by_name = dict(zip(header, fields, strict=False))
    name, text, speaker = (
        next((by_name[name] for name in names if by_name.get(name, "").strip()), "")
        for names in (_NAMES, TEXTS, SPEAKERS)
    )
    return name, text, speaker.strip()


def _unnamed(fields: Sequence[str], repeating: Mapping[int, bool]) -> tuple[str, str, str]:
    """Return the recording's name, the transcript and the speaker of a line without names of columns."""
    texts = (field for column, field in enumerate(fields) if column and column not in repeating)
    speakers = [column for column, names_speakers in repeating.items() if names_speakers]
    speaker = fields[speakers[0]].strip() if len(speakers) == 1 and speakers[0] < len(fields) else ""
    return fields[0], next(filter(str.strip, reversed(list(texts))), ""), speaker


def _repeating_columns(path: Path) -> dict[int, bool]:
    """Return the columns before the last with few different values, beside one with many: whether they name speakers.

    Raise ImportingError if the last of several columns has few, or only lengths.
    """
    rows = [line.split("|") for _, line in islice(read_lines(path), _LOOKED_AT)]
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    columns = (([row[column].strip() for row in rows if len(row) > column]) for column in range(1, width))
    values = [set(texts) - {""} for texts in columns]
    most = max(map(len, values), default=0)
    few = {column: each for column, each in enumerate(values, 1) if each and most >= max(_VARIED, 4 * len(each))}
    names = values[-1] if len(values) > 1 else set()
    lengths = all(map(_FRACTION.fullmatch, names))
    if names and (lengths or width - 1 in few):
        raise ImportingError(
            f"{path}: the last column has only {', '.join(sorted(names)[:3])}{' …' * (len(names) > 3)}, as if it "
            f"{'gave lengths' if lengths else 'named speakers'}; name the columns in a first line, such as "
            f"file|text|{'seconds' if lengths else 'speaker'}"
        )
    return {column: len(each) > 1 and not are_facts(each) for column, each in few.items()}


def _recording(source: Path, folder: Path, name: str) -> str:
    if not is_recording(name):
        return find_recording(str(folder / name))
    return str(source / name if os.sep in name else folder / name)
