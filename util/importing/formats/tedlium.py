"""TED-LIUM: stm/*.stm with sph/*.sph; a set for each of the folders legacy/train, legacy/dev and legacy/test.

A line of an .stm is `TALK CHANNEL SPEAKER BEGIN END <LABELS> TRANSCRIPT`, and each release has its own labels. Lines
that scoring ignores are left out. Labels and other marks, such as `<unk>` and a key in parentheses at the end, are
removed, and "it 's" becomes "it's".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from ...errors import ImportingError
from ...files.folders import walk
from ..pipeline.folders import find_recording
from ..pipeline.lines import read_lines
from ..pipeline.records import SETS, Choices, Item, LeftOut, Record

_IGNORED = "ignore_time_segment_in_scoring"
_LINE = re.compile(r"(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)(?:\s+(.*))?")
_MARK = re.compile(r"<[^>]*>|\([^)]*\)|\{[^}]*\}|\[[^\]]*\]")
_SUFFIX = re.compile(r" (?='(?:s|m|d|t|ll|re|ve)\b)")


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the segments of all talks; raise ImportingError if there is no .stm."""
    root = source / "legacy" if (source / "legacy").is_dir() else source
    empty = True
    for name, files in walk(root):
        for file in files:
            if file.endswith(".stm"):
                empty = False
                yield from _read_talk(source, Path(name, file))
    if empty:
        raise ImportingError(f"{source} has no *.stm in its folders, so it isn't laid out as TED-LIUM is")


def _read_talk(source: Path, path: Path) -> Iterator[Item]:
    folder = path.parent
    beside = folder.parent / "sph" if (folder.parent / "sph").is_dir() else folder
    parts = path.relative_to(source.parent).parts[:-1]
    official_set = next((part for part in reversed(parts) if part in SETS), "")
    for where, line in read_lines(path):
        if line.startswith(";;"):
            continue
        found = _LINE.fullmatch(line.strip())
        times = _times(found) if found else None
        if found is None or times is None:
            yield LeftOut(where, "a malformed line of an .stm", "", line)
            continue
        recording = find_recording(str(beside / found[1]))
        transcript = _MARK.sub(" ", found[6] or "")
        if _IGNORED in transcript:
            yield LeftOut(where, _IGNORED, recording)
            continue
        start, end = times
        joined = _SUFFIX.sub("", " ".join(transcript.split()))
        yield Record(recording, joined, where, found[3], official_set, start, end - start)


def _times(found: re.Match[str]) -> tuple[float, float] | None:
    try:
        start, end = float(found[4]), float(found[5])
    except ValueError:
        return None
    return (start, end) if math.isfinite(start) and math.isfinite(end) else None
