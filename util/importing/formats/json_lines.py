"""JSON-lines manifests: audio_filepath, text, and if they are given duration, offset (seconds) and speaker.

All *.jsonl in the folder are read, or else all *.json; their names may speak of sets (train_manifest.json). Relative
recordings are looked for from the manifest's folder. Other keys whose values are texts or numbers become columns.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import ImportingError
from ..pipeline.folders import set_of_name
from ..pipeline.lines import read_lines
from ..pipeline.records import Choices, Item, LeftOut, Record

_USED = {"audio_filepath", "text", "duration", "offset", "speaker"}
_OF_THE_CSV = {"wav_filename", "wav_filesize", "transcript"}


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of all manifests; raise ImportingError if there are none."""
    manifests = sorted(source.glob("*.jsonl")) or sorted(source.glob("*.json"))
    if not manifests:
        raise ImportingError(f"{source} has no *.jsonl or *.json")
    for path in manifests:
        for where, line in read_lines(path):
            yield _read_row(path, where, line)


def _read_row(path: Path, where: str, line: str) -> Item:
    try:
        row = json.loads(line)
    except ValueError as error:
        return LeftOut(where, "not JSON", "", str(error))
    if not isinstance(row, dict):
        return LeftOut(where, "not a JSON object")
    missing = [key for key in ("audio_filepath", "text") if not isinstance(row.get(key), str)]
    if missing:
        return LeftOut(where, f"no {missing[0]}")
    start, duration = row.get("offset"), row.get("duration")
    recording = str(path.parent / row["audio_filepath"])
    if not (_is_time(start) and _is_time(duration)):
        return LeftOut(where, "an offset or duration that is not a number", recording, f"{start!r}, {duration!r}")
    if start is None:
        duration = None  # the length of the whole recording, which is measured
    return Record(
        recording,
        row["text"],
        where,
        str(row.get("speaker") or ""),
        set_of_name(path.stem),
        start or 0.0,
        duration,
        {key: str(value) for key, value in row.items() if key not in _USED | _OF_THE_CSV and _is_plain(value)},
    )


def _is_time(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and math.isfinite(value))


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
