"""Rows of a corpus: where each is listed, its recording or the part of one, and its transcript."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from ..audio import AudioInfo
from ..errors import BadRow
from ..parts import ROUNDING, Part, part_of
from ..storage.copies import named_for_all
from ..transcripts import Normalizer


class Row(NamedTuple):
    """A row of a list; its recording has not been read."""

    csv_file: str
    """The list; see `listing`."""
    line: int
    path: str
    transcript: str
    respaced: bool = False
    """Whether the list has more spaces in the transcript."""
    lost: str = ""
    """What the normalized form lacks of the transcript, such as symbols that are spoken as words."""
    part: Part | None = None
    """The part of the recording; None: all of it. It may begin or end beyond the recording's end."""
    audio: AudioInfo | None = None
    """What the recording holds, if the list says so."""

    @property
    def source(self) -> str:
        """The place in the list, as in "train.csv:12"."""
        return f"{named_for_all(self.csv_file)}:{self.line}"

    def bad(self, reason: str, transcript: str = "") -> BadRow:
        """Return a bad row with the reason; it names copies by their addresses."""
        told = reason.replace(self.path, named_for_all(self.path)) if self.path else reason
        one_line = told.replace("\r", "\\r").replace("\n", "\\n")  # file names can hold line breaks
        return BadRow(self.source, one_line, transcript)


class Entry(NamedTuple):
    """An utterance in a line of a list that is not a CSV; importers read the same lists."""

    line: int
    path: str
    transcript: str
    speaker: str = ""
    """Empty if the list does not say."""
    start: float | None = None
    """Seconds; None: the whole recording."""
    duration: float | None = None
    """Seconds; None: to the end of the recording."""
    columns: Mapping[str, str] = {}
    """Further values of the line, by name."""
    channel: int | None = None
    """The only channel of the recording that has the utterance, from 0; None: the mean of all."""


class Unusable(NamedTuple):
    """A line of a list that is no utterance."""

    line: int
    reason: str
    """The same for all lines of its kind."""
    path: str = ""
    """The recording's path, if the line names one."""
    detail: str = ""
    """The details of this line."""


def new_row(
    csv_file: str, line: int, path: str, written: str, normalizer: Normalizer | None, part: Part | None = None
) -> Row:
    """Return the row of a transcript, normalized or else only without spaces that separate no words."""
    if normalizer:
        return Row(csv_file, line, path, normalizer(written), lost=normalizer.lost(written), part=part)
    words = " ".join(filter(None, written.split(" ")))
    return Row(csv_file, line, path, words, words != written, "", part)


def row_of(csv_file: str, entry: Entry | Unusable, normalizer: Normalizer | None) -> Row | BadRow:
    """Return the row that a line of a list becomes."""
    row = Row(csv_file, entry.line, entry.path, "")
    if isinstance(entry, Unusable):
        return row.bad(": ".join(filter(None, (entry.reason, entry.detail))))
    if entry.channel is not None:
        return row.bad(
            f"{entry.path}: one channel of a recording must be cut out before training: "
            "python -m deepspeech.import_corpus auto --from FOLDER --to CORPUS"
        )
    if entry.start is None:
        return new_row(csv_file, entry.line, entry.path, entry.transcript, normalizer)
    if reason := why_not_times(entry.start, entry.duration):
        return row.bad(f"{entry.path}: {reason}")
    part = part_of(entry.start, entry.duration)
    return new_row(csv_file, entry.line, entry.path, entry.transcript, normalizer, part)


def seconds_of(text: str) -> float:
    """Return a time in seconds, also of 1:02:03.4 and 02:03; its fraction may follow a comma, as in many languages.

    Raise ValueError for anything else.
    """
    try:
        hours, minutes, seconds = ("0", "0", *text.replace(",", ".").split(":"))[-3:]
        if text.count(":") > 2:
            raise ValueError
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    except ValueError:
        raise ValueError(f"{text!r} is no number of seconds") from None


def seconds_in_json(value: object) -> float | None:
    """Return a number of JSON, which is infinite if it is too large for a float; None for any other value."""
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return math.inf


def why_not_times(start: float, duration: float | None) -> str:
    """Return what is wrong with a part's start and duration in seconds; empty if they are usable."""
    if not math.isfinite(start) or not (duration is None or math.isfinite(duration)):
        return f"a start and a duration must be numbers, and not {start} and {duration}"
    if start <= -ROUNDING:
        return f"a part that starts {-start:g} s before its recording"
    if duration is not None and duration <= 0:
        return f"a part of {duration:g} seconds"
    return ""
