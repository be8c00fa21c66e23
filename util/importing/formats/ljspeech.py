"""LJSpeech, and corpora in its layout: metadata.csv with lines NAME|TEXT or NAME|TEXT|NORMALIZED TEXT, and wavs/.

The first line may name the columns, such as file|text|speaker. If there are several texts, the normalized one is the
transcript; without names of columns, it is the last one that is not empty. Quotes are plain characters.
metadata_train.csv, metadata_val.csv and metadata_test.csv are separate sets, and others beside them are not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from ...containers.endings import is_recording
from ...corpus_files.speakers import SPEAKERS
from ...errors import ImportingError
from ..pipeline.columns import TEXTS, column_name
from ..pipeline.folders import find_recording, named_as_sets, set_of_name
from ..pipeline.lines import read_lines
from ..pipeline.records import SURPLUS, Choices, Item, LeftOut, Record

_FOLDERS = ("wavs", "wav", "clips", "")
_NAMES = ("file", "filename", "file_name", "path", "wav", "audio", "audio_file", "wav_filename", "id", "file_id")

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
        if not header:
            _check_last_column(path)
        for where, line in islice(read_lines(path), 1 if header else 0, None):
            fields = line.split("|")
            if len(fields) == 1:
                yield LeftOut(where, "a line without |", "", line)
                continue
            if header and len(fields) > len(header):
                yield LeftOut(where, SURPLUS, "", line)
                continue
            name, text, speaker = _columns(fields, header)
            yield Record(_recording(source, folder, name.strip()), text, where, speaker, set_of_name(path.stem))


def _header(path: Path) -> list[str]:
    """Return the names of the columns in lower case; none if the first line is no header."""
    _, line = next(read_lines(path), ("", ""))
    names = [column_name(name) for name in line.split("|")]
    return names if set(names) & set(_NAMES) and set(names) & set(TEXTS) else []


def _columns(fields: Sequence[str], header: Sequence[str]) -> tuple[str, str, str]:
    """Return the recording's name, the transcript and the speaker of a line; each is empty if missing."""
    if not header:
        return fields[0], next(filter(str.strip, fields[:0:-1]), ""), ""
    by_name = dict(zip(header, fields, strict=False))
    name, text, speaker = (
        next((by_name[name] for name in names if by_name.get(name, "").strip()), "")
        for names in (_NAMES, TEXTS, SPEAKERS)
    )
    return name, text, speaker.strip()


def _check_last_column(path: Path) -> None:
    """Raise ImportingError if the last of several columns has few different values, like speakers, or lengths."""
    lines = (line.split("|")[1:] for _, line in islice(read_lines(path), _LOOKED_AT))
    texts = [fields for fields in lines if len(fields) > 1]
    names = {fields[-1].strip() for fields in texts} - {""}
    others = {fields[0] for fields in texts}
    lengths = all(map(_FRACTION.fullmatch, names))
    if names and (lengths or len(others) >= max(_VARIED, 4 * len(names))):
        raise ImportingError(
            f"{path}: the last column has only {', '.join(sorted(names)[:3])}{' …' * (len(names) > 3)}, as if it "
            f"{'gave lengths' if lengths else 'named speakers'}; name the columns in a first line, such as "
            f"file|text|{'seconds' if lengths else 'speaker'}"
        )


def _recording(source: Path, folder: Path, name: str) -> str:
    if not is_recording(name):
        return find_recording(str(folder / name))
    return str(source / name if os.sep in name else folder / name)
