"""TED-LIUM, and others with .stm: stm/*.stm with sph/*.sph; a set for each of legacy/train, legacy/dev and legacy/test.

A recording that is not there is looked for by its name in all folders. The last part of the name of an .stm may be a
set, too, as in talks.dev.stm.

A line of an .stm is `TALK CHANNEL SPEAKER BEGIN END <LABELS> TRANSCRIPT`, and each release has its own labels. Lines
that scoring ignores are left out. Labels and other marks, such as `<unk>` and a key in parentheses at the end, are
removed, "it 's" becomes "it's", and of alternatives, as `{ all right / alright }`, the first is taken, which @ means is
nothing. The channels A and B of an .sph are its first and second.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from ...errors import OtherFormatError
from ...files.folders import files_below
from ..pipeline.folders import find_recording, set_of_name
from ..pipeline.lines import read_lines
from ..pipeline.records import SETS, Choices, Item, LeftOut, Record, side_of_call
from .lists.named_recordings import NamedRecordings

_IGNORED = "ignore_time_segment_in_scoring"
_LINE = re.compile(r"(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)(?:\s+(.*))?")
_MARK = re.compile(r"<[^>]*>|\([^)]*\)|\{[^}]*\}|\[[^\]]*\]")
_ALTERNATIVES = re.compile(r"\{\s*(?:@|([^{}/]*))\s*/[^{}]*\}")
_SUFFIX = re.compile(r" (?='(?:s|m|d|t|ll|re|ve)\b)")


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the segments of all talks; raise ImportingError if there is no .stm."""
    root = source / "legacy" if (source / "legacy").is_dir() else source
    talks = [path for path in files_below(root) if path.suffix == ".stm"]
    if not talks:
        raise OtherFormatError(f"{source} has no *.stm in its folders, so it isn't laid out as TED-LIUM is")
    with NamedRecordings(source) as recordings:
        for path in talks:
            yield from _read_talk(source, path, recordings)


def _read_talk(source: Path, path: Path, recordings: NamedRecordings) -> Iterator[Item]:
    folder = path.parent
    beside = folder.parent / "sph" if (folder.parent / "sph").is_dir() else folder
    parts = path.relative_to(source.parent).parts[:-1]
    official_set = next((part for part in reversed(parts) if part in SETS), "")
    official_set = official_set or set_of_name(path.stem.rpartition(".")[2])
    for where, line in read_lines(path):
        if line.startswith(";;"):
            continue
        found = _LINE.fullmatch(line.strip())
        times = _times(found) if found else None
        if found is None or times is None:
            yield LeftOut(where, "a malformed line of an .stm", "", line)
            continue
        recording = find_recording(str(beside / found[1]))
        if not Path(recording).exists():
            recording = recordings.find(path, found[1]) or recording
        transcript = _MARK.sub(" ", _ALTERNATIVES.sub(r" \1 ", found[6] or ""))
        if _IGNORED in transcript:
            yield LeftOut(where, _IGNORED, recording)
            continue
        start, end = times
        joined = _SUFFIX.sub("", " ".join(transcript.split()))
        channel = side_of_call(recording, found[2])
        yield Record(recording, joined, where, found[3], official_set, start, end - start, channel=channel)


def _times(found: re.Match[str]) -> tuple[float, float] | None:
    try:
        start, end = float(found[4]), float(found[5])
    except ValueError:
        return None
    return (start, end) if math.isfinite(start) and math.isfinite(end) else None
