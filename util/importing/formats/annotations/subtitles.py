"""Subtitles beside a recording: SubRip's .srt and WebVTT's .vtt, as players and other recognizers write them.

Formats: https://www.matroska.org/technical/subtitles.html#srt-subtitles and https://www.w3.org/TR/webvtt1/.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ....corpus_files.lines import read_text
from .tiers import AnnotationsError, Segment, Tier

_LINE_END = re.compile(r"[\r\n]")
"""Not the characters at which Python's `splitlines` parts lines, too: an empty line ends a cue."""
_ARROW = "-->"
_TIME = r"(?:(\d+):)?(\d+):(\d+)[.,](\d+)"
_TIMES = re.compile(rf"\s*{_TIME}\s*{_ARROW}\s*{_TIME}(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_TAGS = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
"""Those of WebVTT, and in braces those of other players' styles."""


class _Cue(NamedTuple):
    start: float  # seconds
    end: float
    voice: str  # empty if the file does not say
    lines: Sequence[str]  # without tags; none is empty


def read_subtitles(path: Path) -> list[Tier]:
    """Return the cues of a file, those of each voice that WebVTT names as a tier; raise AnnotationsError or OSError.

    A cue's lines are joined with spaces, and tags are left out. Of captions that roll up, as YouTube makes them, each
    line is taken once, where it first appears.
    """
    tiers: dict[str, list[Segment]] = {}
    for cue in _rolled_out(_cues(_LINE_END.split(read_text(path)))):
        tiers.setdefault(cue.voice, []).append(Segment(cue.start, cue.end, " ".join(cue.lines)))
    return [Tier(voice or "subtitles", voice, segments) for voice, segments in tiers.items()]


def _cues(lines: Sequence[str]) -> list[_Cue]:
    """Return the cues that have a text."""
    cues = []
    for number, line in enumerate(lines, start=1):
        if _ARROW not in line:
            continue
        found = _TIMES.fullmatch(line)
        if found is None:
            raise AnnotationsError(f"line {number}: times are not written as 00:01:02.345 {_ARROW} 00:01:04.000")
        start, end = _seconds(*found.groups()[:4]), _seconds(*found.groups()[4:])
        written = _lines_of_cue(lines, number)
        voice = _VOICE.search(" ".join(written))
        texts = [" ".join(unescape(_TAGS.sub("", each)).split()) for each in written]
        if any(texts):
            cues.append(_Cue(start, end, unescape(voice[1]).strip() if voice else "", [*filter(None, texts)]))
    return cues


def _lines_of_cue(lines: Sequence[str], begin: int) -> Sequence[str]:
    """Return the lines from `begin` up to an empty one, or to the next times and their number where that is missing.

    One of spaces is not empty: YouTube has it above the first line.
    """
    end = begin
    while end < len(lines) and lines[end] and _ARROW not in lines[end]:
        end += 1
    missing = end < len(lines) and _ARROW in lines[end]
    return lines[begin : end - (missing and end > begin and lines[end - 1].strip().isdecimal())]


def _rolled_out(cues: Sequence[_Cue]) -> Sequence[_Cue]:
    """Return the cues without the lines of the one before each, if they roll up, and without those that say no more.

    They do if one in three, or more, says a new line below the last one of the cue before.
    """
    pairs = [*pairwise(cues)]
    rolling = sum(len(cue.lines) > 1 and cue.lines[0] == before.lines[-1] for before, cue in pairs)
    if 3 * rolling < max(1, len(pairs)):
        return cues
    new = [cue._replace(lines=cue.lines[_repeated(before.lines, cue.lines) :]) for before, cue in pairs]
    return [cues[0], *(cue for cue in new if cue.lines)]


def _repeated(before: Sequence[str], lines: Sequence[str]) -> int:
    """Return how many lines at the beginning are those at the end of the cue before."""
    most = min(len(before), len(lines))
    return next(count for count in range(most, -1, -1) if lines[:count] == before[len(before) - count :])


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(f"{seconds}.{fraction}")
