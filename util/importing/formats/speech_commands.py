"""Speech Commands: a folder for each word, with validation_list.txt and testing_list.txt for the sets.

A recording is named SPEAKER_nohash_TAKE.wav; other names give no speaker. Folders whose names begin with _ or . are
ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...containers.endings import is_recording
from ...corpus_files.lookup import Lookup
from ...errors import ImportingError
from ...files.folders import files_like
from ..pipeline.lines import read_lines
from ..pipeline.records import DEV, TEST, TRAIN, Choices, Item, Record

_LISTS = {"validation_list.txt": DEV, "testing_list.txt": TEST}


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the recordings of each word; raise ImportingError if there are no such folders."""
    words = [path for path in files_like(source, "[!_]*") if path.is_dir()]
    if not words:
        raise ImportingError(f"{source} has no folders, one for each word")
    lists = [name for name in _LISTS if (source / name).is_file()]
    with Lookup((_stem(line.strip()), _LISTS[name]) for name in lists for _, line in read_lines(source / name)) as sets:
        for word in words:
            for name in filter(is_recording, (path.name for path in files_like(word, "*"))):
                key = f"{word.name}/{name}"
                official_set = (sets.get(_stem(key)) or TRAIN) if lists else ""
                speaker, mark, _ = name.partition("_nohash_")
                yield Record(str(word / name), word.name, key, speaker if mark else "", official_set)


def _stem(path: str) -> str:
    """Return a path without its ending, which the lists keep if the recordings are converted."""
    return path.rpartition(".")[0]
