"""Transcripts in a .json beside a recording: one text, or segments with a start, an end and a text each.

Whisper, Emilia and IndicVoices have such files.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....corpus_files.json_lines import texts_of
from ....corpus_files.lines import read_text
from ....corpus_files.speakers import speaker_of
from ...pipeline.columns import ENDS, STARTS, TEXTS
from .tiers import AnnotationsError, Segment, Tier

_SEGMENTS = ("segments", "normalized", "verbatim", "utterances", "sentences", "chunks")
"""Names of lists of segments, in order of preference."""


def read_json(path: Path) -> list[Tier]:
    """Return the segments of each speaker as a tier, or the whole text as a segment without an end.

    Raise AnnotationsError, or UnicodeDecodeError if the file is not UTF-8, or OSError.
    """
    try:
        value = json.loads(read_text(path))
    except UnicodeDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise AnnotationsError(f"it is not JSON: {error}") from error
    of_file = value if isinstance(value, dict) else {"segments": value}
    lists = (of_file[name] for name in _SEGMENTS if isinstance(of_file.get(name), list))
    speaker = speaker_of(texts_of(of_file))
    for rows in lists:
        found = [segment for segment in map(_segment, rows) if segment is not None]
        if found and len(found) == len(rows):
            return _by_speaker(found, speaker)
    if text := _text(of_file):
        return [Tier(speaker or "text", speaker, [Segment(0.0, math.inf, text)])]
    raise AnnotationsError("it has no text, and no segments with start, end and text")


def _segment(row: Any) -> tuple[str, Segment] | None:
    """Return a segment and its speaker; None if the row is none."""
    if not isinstance(row, dict):
        return None
    start, end = (next((row[name] for name in names if name in row), None) for names in (STARTS, ENDS))
    text = _text(row)
    if text is None or not (isinstance(start, int | float) and isinstance(end, int | float)):
        return None
    return speaker_of(texts_of(row)), Segment(float(start), float(end), text)


def _text(row: Mapping[str, Any]) -> str | None:
    return next((row[name].strip() for name in TEXTS if isinstance(row.get(name), str)), None)


def _by_speaker(found: list[tuple[str, Segment]], speaker: str) -> list[Tier]:
    tiers: dict[str, list[Segment]] = {}
    for own, segment in found:
        if segment.text:
            tiers.setdefault(own or speaker, []).append(segment)
    return [Tier(name or "segments", name, segments) for name, segments in tiers.items()]
