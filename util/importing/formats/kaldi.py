"""A data directory of Kaldi: wav.scp with files, text, and if they are there segments and utt2spk.

A wav.scp with commands (lines that end in |) is refused. Subfolders named train, dev and test, each of them such a
directory, are the sets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from ...errors import ImportingError
from ..pipeline.folders import set_of_name
from ..pipeline.lines import read_lines
from ..pipeline.lookup import Lookup
from ..pipeline.records import Choices, Item, LeftOut, Record


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of a directory, or of those in it; raise ImportingError if there is none."""
    folders = [source] if (source / "wav.scp").is_file() else sorted(path.parent for path in source.glob("*/wav.scp"))
    if not folders:
        raise ImportingError(f"{source} has no wav.scp, so it isn't a data directory of Kaldi's")
    for folder in folders:
        yield from _read_folder(folder, set_of_name(folder.name) if folder != source else "")


def _read_folder(folder: Path, official_set: str) -> Iterator[Item]:
    with ExitStack() as files:
        recordings = files.enter_context(Lookup(_read_recordings(folder / "wav.scp")))
        speakers = files.enter_context(Lookup(_read_pairs(folder / "utt2spk")))
        segmented = (folder / "segments").is_file()
        segments = files.enter_context(Lookup(_read_pairs(folder / "segments")))
        for where, line in read_lines(folder / "text"):
            name, transcript = _pair(line)
            segment = segments.get(name) if segmented else f"{name} 0 -1"
            if segment is None:
                yield LeftOut(where, "not in segments", "", name)
                continue
            recording, start, duration = _read_segment(segment)
            path = recordings.get(recording)
            if path is None:
                yield LeftOut(where, "its recording is not in wav.scp", "", recording or name)
            elif start is None:
                yield LeftOut(where, "malformed times in segments", path, segment)
            else:
                yield Record(path, transcript, where, speakers.get(name) or "", official_set, start, duration)


def _read_recordings(path: Path) -> Iterator[tuple[str, str]]:
    for where, line in read_lines(path):
        name, file = _pair(line)
        if file.endswith("|"):
            raise ImportingError(
                f"{path.parent / where}: a command, and only files can be imported; write what it prints to a file"
            )
        beside = path.parent / file
        yield name, str(beside if beside.exists() else Path(file).absolute())


def _read_pairs(path: Path) -> Iterator[tuple[str, str]]:
    if path.is_file():
        for _, line in read_lines(path):
            yield _pair(line)


def _pair(line: str) -> tuple[str, str]:
    name, rest = (*line.split(maxsplit=1), "")[:2]
    return name, rest.strip()


def _read_segment(text: str) -> tuple[str, float | None, float | None]:
    """Return recording, start and duration of a segment `RECORDING START END`; an END of -1 is the recording's."""
    recording, *times = text.split()
    try:
        start, end = (float(time) for time in times[:2])
    except ValueError:
        return recording, None, None
    if not (math.isfinite(start) and math.isfinite(end)):
        return recording, None, None
    return recording, start, None if end == -1 else end - start
