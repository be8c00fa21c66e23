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
from ....transcripts import continued_by_all
from .names_of_speakers import tiers_of_voices
from .tiers import AnnotationsError, Segment, Tier

_LINE_END = re.compile(r"[\r\n]")
"""Python's `splitlines` splits at more characters, and an empty line between them would end a cue."""
_ARROW = "-->"
_TIME = r"(?:(\d+):)?(\d+):(\d+)[.,](\d+)"
_TIMES = re.compile(rf"\s*{_TIME}\s*{_ARROW}\s*{_TIME}(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^\s<>][^<>]*)>")
_TAGS = re.compile(r"<rt(?:\.[^<>]*)?>[^<]*|<[^<>]*>|\{\\[^{}]*\}")
"""Tags of WebVTT, with the readings above Japanese characters, and in braces the styles of other players."""

_UNDERLINE = "<u>"
_AT_ONCE = 0.01
"""Seconds."""


class _Cue(NamedTuple):
    start: float  # seconds
    end: float
    voice: str  # empty if the file does not say, or there are several
    lines: Sequence[str]  # without tags; none is empty
    underlined: bool  # whether a part is, as each word in turn in what Whisper writes with --highlight_words


def read_subtitles(path: Path) -> list[Tier]:
    """Return the cues of a file; each speaker is a tier. Raise AnnotationsError or OSError.

    Speakers are WebVTT's voices, else names before a colon. A cue's lines are joined as those of a text, and tags are
    removed. In captions that roll up, such as YouTube's, each line is used once, where it first appears.
    """
    cues = _rolled_out(_whole(_cues(_LINE_END.split(read_text(path)))))
    said = ((cue.voice, Segment(cue.start, cue.end, continued_by_all(cue.lines))) for cue in cues)
    return tiers_of_voices(said)


def _cues(lines: Sequence[str]) -> list[_Cue]:
    """Return the cues with text."""
    cues = []
    for number, line in enumerate(lines, start=1):
        if _ARROW not in line:
            continue
        found = _TIMES.fullmatch(line)
        if found is None:
            raise AnnotationsError(f"line {number}: times are not written as 00:01:02.345 {_ARROW} 00:01:04.000")
        start, end = _seconds(*found.groups()[:4]), _seconds(*found.groups()[4:])
        written = _lines_of_cue(lines, number)
        voices = {unescape(voice).strip() for voice in _VOICE.findall(" ".join(written))}
        texts = [" ".join(unescape(_TAGS.sub("", each)).split()) for each in written]
        if any(texts):
            underlined = any(_UNDERLINE in each for each in written)
            cues.append(_Cue(start, end, voices.pop() if len(voices) == 1 else "", [*filter(None, texts)], underlined))
    return cues


def _whole(cues: Sequence[_Cue]) -> list[_Cue]:
    """Return cues with those put together that differ only in what is underlined, and follow each other at once."""
    whole: list[_Cue] = []
    for cue in cues:
        before = whole[-1] if whole else cue
        highlighted = whole and (cue.underlined or before.underlined) and cue.start - before.end < _AT_ONCE
        if highlighted and (cue.voice, cue.lines) == (before.voice, before.lines):
            whole[-1] = before._replace(end=max(before.end, cue.end), underlined=True)
        else:
            whole.append(cue)
    return whole


def _lines_of_cue(lines: Sequence[str], begin: int) -> Sequence[str]:
    """Return the lines from `begin` up to an empty one or, if that is missing, up to the next number and times.

    A line of spaces is not empty: YouTube writes one above the first line.
    """
    end = begin
    while end < len(lines) and lines[end] and _ARROW not in lines[end]:
        end += 1
    missing = end < len(lines) and _ARROW in lines[end]
    return lines[begin : end - (missing and end > begin and lines[end - 1].strip().isdecimal())]


def _rolled_out(cues: Sequence[_Cue]) -> Sequence[_Cue]:
    """If captions roll up, return them without the lines repeated from the previous cue, and without empty cues.

    Captions roll up if at least one cue in three adds a new line below the last line of the previous cue.
    """
    pairs = [*pairwise(cues)]
    rolling = sum(len(cue.lines) > 1 and cue.lines[0] == before.lines[-1] for before, cue in pairs)
    if 3 * rolling < max(1, len(pairs)):
        return cues
    new = [cue._replace(lines=cue.lines[_repeated(before.lines, cue.lines) :]) for before, cue in pairs]
    return [cues[0], *(cue for cue in new if cue.lines)]


def _repeated(before: Sequence[str], lines: Sequence[str]) -> int:
    """Return how many lines at the beginning repeat the last lines of the previous cue."""
    most = min(len(before), len(lines))
    return next(count for count in range(most, -1, -1) if lines[:count] == before[len(before) - count :])


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    return float(hours or 0) * 3600 + float(minutes) * 60 + float(f"{seconds}.{fraction}")
