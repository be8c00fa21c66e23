"""Rows of a corpus: where each is listed, its recording or the part of one, and its transcript."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from ..audio import AudioInfo
from ..errors import BadRow
from ..parts import Part, part_of
from ..storage.copies import named_for_all
from ..transcripts import Normalizer


class Row(NamedTuple):
    """A row that can be read, of which nothing was looked at but the list that it stands in."""

    csv_file: str
    """The list; see `listing`."""
    line: int
    path: str
    transcript: str
    respaced: bool = False
    """Whether the list has more spaces in the transcript."""
    symbols: str = ""
    """Symbols in the list's transcript that are said as words, and that its normalized form lacks."""
    part: Part | None = None
    """The part of the recording, if it is not meant as a whole; it may begin or end beyond the recording's end."""
    audio: AudioInfo | None = None
    """What the recording holds, if the list knows."""

    def bad(self, reason: str, transcript: str = "") -> BadRow:
        """Return that the row cannot be used, and why; copies of what is at addresses are called by these."""
        told = reason.replace(self.path, named_for_all(self.path)) if self.path else reason
        one_line = told.replace("\r", "\\r").replace("\n", "\\n")  # file names can hold line breaks
        return BadRow(f"{named_for_all(self.csv_file)}:{self.line}", one_line, transcript)


class Entry(NamedTuple):
    """What a line of a list that is not a CSV says of an utterance; importers read the same lists."""

    line: int
    path: str
    transcript: str
    speaker: str = ""
    """Empty if the list does not tell."""
    start: float | None = None
    """Seconds; None if the whole recording is meant."""
    duration: float | None = None
    """Seconds; None: to the end of the recording."""
    columns: Mapping[str, str] = {}
    """What else it says."""


class Unusable(NamedTuple):
    """A line of a list that is no utterance."""

    line: int
    reason: str
    """The same for all lines of its kind."""
    path: str = ""
    """Of the recording, if it has one."""
    detail: str = ""
    """What differs from line to line."""


def new_row(
    csv_file: str, line: int, path: str, written: str, normalizer: Normalizer | None, part: Part | None = None
) -> Row:
    """Return the row of a transcript as it is written, without spaces that separate no words, or normalized."""
    if normalizer:
        return Row(csv_file, line, path, normalizer(written), symbols=normalizer.spoken_symbols(written), part=part)
    words = " ".join(filter(None, written.split(" ")))
    return Row(csv_file, line, path, words, words != written, "", part)


def row_of(csv_file: str, entry: Entry | Unusable, normalizer: Normalizer | None) -> Row | BadRow:
    """Return the row that a line of a list becomes."""
    row = Row(csv_file, entry.line, "", "")
    if isinstance(entry, Unusable):
        return row.bad(": ".join(filter(None, (entry.reason, entry.detail))))
    if entry.start is None:
        return new_row(csv_file, entry.line, entry.path, entry.transcript, normalizer)
    if reason := why_not_times(entry.start, entry.duration):
        return row.bad(f"{entry.path}: {reason}")
    part = part_of(entry.start, entry.duration)
    return new_row(csv_file, entry.line, entry.path, entry.transcript, normalizer, part)


def why_not_times(start: float, duration: float | None) -> str:
    """Return what is wrong with the start and the duration of a part, in seconds; empty if they can be used."""
    if not math.isfinite(start) or not (duration is None or math.isfinite(duration)):
        return f"a start and a duration must be numbers, and not {start} and {duration}"
    if start < 0:
        return f"a segment that starts {-start:g} seconds before its recording"
    if duration is not None and duration <= 0:
        return f"a segment of {duration:g} seconds"
    return ""
