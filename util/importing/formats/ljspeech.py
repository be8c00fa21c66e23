"""LJSpeech, and what is laid out like it: metadata.csv with lines NAME|TEXT or NAME|TEXT|NORMALIZED TEXT, and wavs/.

Of several texts the last one that isn't empty counts. Quotes stand for themselves. metadata_train.csv, metadata_val.csv
and metadata_test.csv are sets of their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ...errors import ImportingError
from ..pipeline.folders import find_recording, is_recording, set_of_name
from ..pipeline.lines import read_lines
from ..pipeline.records import Choices, Item, LeftOut, Record

_FOLDERS = ("wavs", "wav", "clips", "")


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of metadata.csv, or else of all metadata*.csv; raise ImportingError if there are none."""
    lists = [source / "metadata.csv"] if (source / "metadata.csv").is_file() else sorted(source.glob("metadata*.csv"))
    if not lists:
        raise ImportingError(f"{source} has no metadata.csv")
    folder = next(source / name for name in _FOLDERS if (source / name).is_dir())
    for path in lists:
        for where, line in read_lines(path):
            name, *texts = line.split("|")
            name = name.strip()
            if not texts:
                yield LeftOut(where, "a line without |", "", line)
                continue
            text = next(filter(str.strip, reversed(texts)), "")
            yield Record(_recording(source, folder, name), text, where, "", set_of_name(path.stem))


def _recording(source: Path, folder: Path, name: str) -> str:
    if not is_recording(name):
        return find_recording(str(folder / name))
    return str(source / name if os.sep in name else folder / name)
