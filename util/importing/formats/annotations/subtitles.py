"""Subtitles beside a recording: SubRip's .srt and WebVTT's .vtt, as players and other recognizers write them.

Formats: https://www.matroska.org/technical/subtitles.html#srt-subtitles and https://www.w3.org/TR/webvtt1/.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path

from ....corpus_files.lines import read_text
from .tiers import AnnotationsError, Segment, Tier

_ARROW = "-->"
_TIME = r"(?:(\d+):)?(\d+):(\d+)[.,](\d+)"
_TIMES = re.compile(rf"\s*{_TIME}\s*{_ARROW}\s*{_TIME}(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_TAGS = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
"""Those of WebVTT, and in braces those of other players' styles."""


def read_subtitles(path: Path) -> list[Tier]:
    """Return the cues of a file, those of each voice that WebVTT names as a tier; raise AnnotationsError or OSError.

    A cue's lines are joined with spaces, and tags are left out.
    """
    tiers: dict[str, list[Segment]] = {}
    lines = read_text(path).splitlines()
    for number, line in enumerate(lines, start=1):
        if _ARROW not in line:
            continue
        found = _TIMES.fullmatch(line)
        if found is None:
            raise AnnotationsError(f"line {number}: times are not written as 00:01:02.345 {_ARROW} 00:01:04.000")
        start, end = _seconds(*found.groups()[:4]), _seconds(*found.groups()[4:])
        written = " ".join(_lines_of_cue(lines, number))
        voice = _VOICE.search(written)
        text = " ".join(unescape(_TAGS.sub("", written)).split())
        if text:
            tiers.setdefault(unescape(voice[1]).strip() if voice else "", []).append(Segment(start, end, text))
    return [Tier(voice or "subtitles", voice, segments) for voice, segments in tiers.items()]


def _lines_of_cue(lines: Sequence[str], begin: int) -> Sequence[str]:
    """Return the lines from `begin` up to an empty one, or to the next times and their number where that is missing."""
    end = begin
    while end < len(lines) and lines[end].strip() and _ARROW not in lines[end]:
        end += 1
    missing = end < len(lines) and _ARROW in lines[end]
    return lines[begin : end - (missing and end > begin and lines[end - 1].strip().isdecimal())]


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(f"{seconds}.{fraction}")
