"""TalkBank's .cha, in the format CHAT: a line for each utterance, with its time in ms after the character 15 (hex).

Codes, fragments and the marks of pauses are removed, and words without their codes remain. Utterances without a time,
and those with parts that were not understood (xxx), are no transcripts. Format: https://talkbank.org/manuals/CHAT.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ....corpus_files.lines import read_text
from .tiers import Segment, Tier, segment_of, tiers_by_speaker

_LINE = re.compile(r"\*([^:]+):\s*(.*)")
_TIME = re.compile(r"\x15_?(\d+)_(\d+)_?\x15")
_NOT_UNDERSTOOD = re.compile(r"(?<!\S)(xxx?|yyy?|www)(?!\w)")
_NOT_SAID = re.compile(r"\[[^\[\]]*\]|\(\.+\)|\(\d[\d.:]*\)|&[=+~*]\S*|(?<!\S)\+\S*|(?<!\S)0\w*|\((\w+)\)")
"""Codes, pauses, events and fragments, kinds of ends, and words and parts of words that were left out."""
_MARKS = re.compile(r"&-|@\S*|[<>\u2039\u203a\u2308-\u230b\u2191\u2193\u2261\u201e\u2021^:]")
_END = re.compile(r"\s*[.?!]\s*$")


def read_chat(path: Path) -> list[Tier]:
    """Return what each speaker says as a tier; raise UnicodeDecodeError if the file is not UTF-8, or OSError."""
    return tiers_by_speaker(_utterances(path))


def _utterances(path: Path) -> Iterator[tuple[str, Segment]]:
    for line in re.sub(r"\n\t", " ", read_text(path)).split("\n"):
        found = _LINE.fullmatch(line.strip())
        times = _TIME.findall(found[2]) if found else []
        if found is None or not times:
            continue
        start, end = float(times[0][0]) / 1000, float(times[-1][1]) / 1000
        written = _TIME.sub(" ", found[2])
        segment = segment_of(start, end, _words(written))
        if segment and not _NOT_UNDERSTOOD.search(written):
            yield found[1], segment


def _words(written: str) -> str:
    said = _MARKS.sub("", _NOT_SAID.sub("", written))
    return _END.sub("", said.replace("_", " "))
