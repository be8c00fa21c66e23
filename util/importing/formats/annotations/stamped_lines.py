"""Transcripts with a time before, or after, each of their paragraphs: `[00:01:23] Anna: text`, and many similar ones.

The time may be in brackets or at the begin of a line, alone or with an end (`[00:01.2 --> 00:03.4] text`, as Whisper
prints it, or in seconds, `[1.20s -> 3.40s] text`), or after the name of a speaker (Otter's `Anna  0:04` above the
text), or between # (f4's `#00:01:23-4#`). The last of four numbers is that of a frame, as programs for video write it.
Without an end, a text ends at the next time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ....corpus_files.rows import seconds_of
from ....transcripts import continued_by_all
from .names_of_speakers import names_apart
from .tiers import Segment, Tier, tiers_by_speaker

_TIME = r"(?:\d{1,2}:)?\d{1,3}:\d{2}(?:[.,]\d{1,3}|:\d{2})?"
_TO = r"\s*(?:-+>?|\u2013|\u2014)\s*"
_RANGE = rf"(?P<%s>{_TIME})(?:{_TO}(?P<%s>{_TIME}))?"
_SECONDS = r"\d+\.\d+"
_STAMP = re.compile(
    rf"[\[(<{{]\s*{_RANGE % ('start', 'end')}\s*[\])>}}]"
    rf"|^[ \t]*{_RANGE % ('start_bare', 'end_bare')}(?=\s|$)"
    rf"|(?<=[ \t]){_RANGE % ('start_last', 'end_last')}[ \t]*:?[ \t]*$"
    rf"|^[ \t]*\[(?P<start_seconds>{_SECONDS})s?(?:{_TO}(?P<end_seconds>{_SECONDS})s?)?\]"
    r"|#(?P<hashed>\d{1,2}:\d{2}:\d{2}(?:[-.,]\d{1,3})?)#",
    re.MULTILINE,
)
_SPEAKER = re.compile(r"[^\n\[\]?!,;]{1,40}")
_MOST_WORDS = 4
_CREDIT = re.compile(r"^Transcribed by https?://\S+\s*$", re.MULTILINE)
"""The last line of what Otter exports."""

FRAMES_A_SECOND = 30.0
"""The rate of times with frames where nothing tells it."""


class _Stamp(NamedTuple):
    start: float
    end: float | None
    first: int
    """The place of its first character; before it is the speaker, if there is one."""
    last: int
    """The place after its last character."""
    speaker: str
    begins: bool
    """Whether a line begins with it, or with the speaker before it."""


def stamped_lines(text: str) -> list[Tier]:
    """Return what each speaker says as a tier; or none if the text has no times, or they are words of it.

    Times count if they do not decrease, and there are several, or one in brackets, or 0:00. What is written above the
    first is an annotation without a time, but before it if the text ends with a time of f4.
    """
    text = _CREDIT.sub("", text).rstrip()
    stamps = list(_stamps(text))
    times = [stamp.start for stamp in stamps]
    if not stamps or times != sorted(times) or (len(stamps) == 1 and not _is_certain(stamps[0], text)):
        return []
    title, after = text[: stamps[0].first].strip(), text.endswith("#") and stamps[-1].last == len(text)
    if not stamps[0].begins and not after:
        return []
    parts = [("", title, 0.0, stamps[0].start)] if title and after else []
    ends = [stamp.end or later.start for stamp, later in pairwise(stamps)] + [stamps[-1].end or math.inf]
    stops = [later.first for later in stamps[1:]] + [len(text)]
    for stamp, end, stop in zip(stamps, ends, stops, strict=True):
        parts.append((stamp.speaker, text[stamp.last : stop].strip().removeprefix(":"), stamp.start, end))
    tiers = tiers_by_speaker(_named(parts), "text")
    return [tiers[0]._replace(untimed=[title]), *tiers[1:]] if tiers and title and not after else tiers


def seconds_of_frame(time: str, rate: float = FRAMES_A_SECOND) -> float:
    """Return the seconds of a time, which may end with a frame, as in 00:00:01:12; raise ValueError."""
    whole, _, frame = time.rpartition(":")
    return seconds_of(whole) + int(frame) / rate if time.count(":") == 3 else seconds_of(time)


def _named(parts: Sequence[tuple[str, str, float, float]]) -> Iterator[tuple[str, Segment]]:
    """Yield parts (speaker, text, start, end) with their speakers, who may be named in the texts, too."""
    lines_of = [[line for line in text.splitlines() if line.strip()] for _, text, *_ in parts]
    named = iter(names_apart([line for lines in lines_of for line in lines]))
    for (speaker, _, start, end), lines in zip(parts, lines_of, strict=True):
        own = [next(named) for _ in lines]
        speakers = {name for name, _ in own if name}
        speaker = speaker or (speakers.pop() if len(speakers) == 1 else "")
        if own and start < end:
            yield speaker, Segment(start, end, continued_by_all(words for _, words in own))


def _stamps(text: str) -> Iterator[_Stamp]:
    for found in _STAMP.finditer(text):
        groups = {name.partition("_")[0]: value for name, value in found.groupdict().items() if value}
        line = text.rfind("\n", 0, found.start()) + 1
        before, follows = text[line : found.start()], text[found.end() : found.end() + 1]
        last = found["start_last"] is not None
        ends_line = follows in ("", "\n")
        is_speaker = (
            _SPEAKER.fullmatch(before.strip()) is not None
            and len(before.split()) <= _MOST_WORDS
            and "hashed" not in groups
            and (before.rstrip().endswith(":") or follows == ":" or ends_line)
        )
        if last and not is_speaker:
            continue
        start = seconds_of_frame(groups.get("start") or groups["hashed"].replace("-", "."))
        end = seconds_of_frame(groups["end"]) if "end" in groups else None
        speaker = before.strip(" \t:-") if is_speaker else ""
        first = line if is_speaker else found.start()
        yield _Stamp(start, end, first, found.end(), speaker, is_speaker or not before.strip())


def _is_certain(stamp: _Stamp, text: str) -> bool:
    return stamp.begins and (stamp.start == 0 or text[stamp.first : stamp.first + 1] in "[(<{")
