"""Transcripts of conversations in a .txt: lines with two times, the speaker, and what is said.

Magic Data's corpora have `[1.32,6.69]`, the speaker, further facts and the text, with tabs between them. The LDC's
(Fisher, CallHome) have `1.32 6.69 A: text`, and comments after a #; a text may go on in further lines. IARPA Babel's,
of one speaker, have lines with a time, as `[1.320]`, and between them what is said, or `<no-speech>`. Marks such as
[noise], {breath} and <laugh> are removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from .label_tracks import FREQUENCIES
from .tiers import Segment, Tier, segment_of, tiers_by_speaker

_OF_MAGIC_DATA = re.compile(r"\[(?P<start>\d+\.?\d*),\s*(?P<end>\d+\.?\d*)\]\s+(?P<speaker>[^\t]*)\t(?P<text>.*)")
_OF_LDC = re.compile(r"(?P<start>\d+\.\d+)\s+(?P<end>\d+\.\d+)\s+(?P<speaker>[^\s:]+):\s*(?P<text>.*)")
_OF_BABEL = re.compile(r"\[0\.0+\]\n.*\n\[\d+\.\d+\]", re.DOTALL)
_TIME_OF_BABEL = re.compile(r"^\[(\d+\.\d+)\][ \t]*$", re.MULTILINE)
_MARKS_OF_BABEL = re.compile(r"<[^<>]*>|[~*]|(?<!\w)-|-(?!\w)")
_NOT_UNDERSTOOD = re.compile(r"\(\(\)\)|<(?:foreign|overlap|prompt)>")
_TIMES = re.compile(r"\d+\.\d+\s+\d+\.\d+\b")
_MARKS = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|\(\(|\)\)")
_PASSED_OVER = ("#", FREQUENCIES)


def timed_lines(text: str) -> list[Tier]:
    """Return what each speaker says as a tier; or none if the text is anything else.

    A text is something else, such as a track of labels, if a line has times but no speaker. Of Babel's, what was not
    understood is left out.
    """
    if _OF_BABEL.fullmatch(text.strip()):
        return [Tier("text", "", list(_between_times(text)))]
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(_PASSED_OVER)]
    pattern = next((each for each in (_OF_MAGIC_DATA, _OF_LDC) if lines and each.fullmatch(lines[0])), None)
    if pattern is None:
        return []
    said: list[tuple[float, float, str, str]] = []
    for line in lines:
        if found := pattern.fullmatch(line):
            said.append((float(found["start"]), float(found["end"]), found["speaker"], found["text"].split("\t")[-1]))
        elif pattern is _OF_LDC and not _TIMES.match(line):
            start, end, speaker, before = said.pop()
            said.append((start, end, speaker, f"{before} {line}"))
        else:
            return []
    spoken = ((speaker, segment_of(start, end, _MARKS.sub(" ", written))) for start, end, speaker, written in said)
    return tiers_by_speaker((speaker, segment) for speaker, segment in spoken if segment)


def _between_times(text: str) -> Iterator[Segment]:
    _, *parts = _TIME_OF_BABEL.split(text)
    for (start, end), written in zip(pairwise(map(float, parts[::2])), parts[1::2], strict=False):
        segment = segment_of(start, end, _MARKS_OF_BABEL.sub(" ", written))
        if segment and not _NOT_UNDERSTOOD.search(written):
            yield segment
