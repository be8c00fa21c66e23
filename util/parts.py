"""Parts of recordings: utterances that are stretches of a longer recording, which is read in place, not cut."""

from __future__ import annotations

import math
from typing import NamedTuple

TOLERANCE = 0.05
"""Seconds by which a part may differ from the whole recording and still count as the whole."""
ROUNDING = 0.01
"""Seconds by which a part may begin before its recording, as times are rounded; it then begins with the recording."""
SHORTEST = 0.02
"""The least seconds of a part."""
MOST_OVERRUN = 0.5
"""Seconds by which a part may end after its recording, as in Kaldi; more suggests that it is of another recording."""


class Part(NamedTuple):
    """A stretch of a recording."""

    start: float
    """Seconds."""
    end: float
    """Seconds; infinite: the end of the recording."""

    def samples(self, sample_rate: int, length: int) -> range:
        """Return which samples of a recording, `length` of them at `sample_rate` Hz, are in the part."""
        end = length if math.isinf(self.end) else min(round(self.end * sample_rate), length)
        return range(round(self.start * sample_rate), end)

    def shares_most(self, other: Part) -> bool:
        """Return whether the parts share more than half of the shorter one."""
        shared = min(self.end, other.end) - max(self.start, other.start)
        return shared == math.inf or shared > min(self.end - self.start, other.end - other.start) / 2

    @property
    def fragment(self) -> str:
        """The suffix of a recording's address with which browsers play the part: "#t=1.5,2.25"."""
        end = "" if math.isinf(self.end) else f",{self.end:.3f}"
        return f"#t={self.start:.3f}{end}"


WHOLE = Part(0.0, math.inf)
"""All of a recording, whatever its length."""


class PartError(Exception):
    """A recording has no such part; `reason` is the same for all parts with the same fault."""

    def __init__(self, reason: str, detail: str) -> None:
        """Take the details of this part as `detail`."""
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def part_of(start: float, duration: float | None) -> Part:
    """Return the part that begins at `start` and takes `duration` seconds or, if None, ends with the recording.

    A start before the recording by less than `ROUNDING` is 0.
    """
    begin = 0.0 if -ROUNDING < start < 0 else start
    return Part(begin, math.inf if duration is None else start + duration)


def clipped(part: Part, length: float, most_overrun: float = math.inf) -> Part | None:
    """Return the part within a recording of `length` seconds; None if it is all of the recording.

    A start before the recording by less than `ROUNDING` is 0. Raise PartError for one further before
    it, for a part that is too short or lies beyond the end, and for one that ends over `most_overrun` seconds after it.
    """
    start, end = max(part.start, 0.0), min(part.end, length)
    detail = f"{part.start:.3f} to {'the end' if math.isinf(part.end) else f'{part.end:.3f}'} of {length:.3f} seconds"
    if math.isnan(part.start) or math.isnan(part.end):
        raise PartError("a part whose times are no numbers", detail)
    if part.start <= -ROUNDING:
        raise PartError("a part that starts before its recording", detail)
    if start < length and most_overrun < part.end - length < math.inf:
        raise PartError(f"a part that ends more than {most_overrun} seconds after its recording", detail)
    if start <= TOLERANCE and length - end <= TOLERANCE:
        return None
    if part.end <= part.start:
        raise PartError("a part that ends where it begins, or before", detail)
    if start >= length:
        raise PartError("a part beyond the end of its recording", detail)
    if end - start < SHORTEST:
        raise PartError(f"a part shorter than {SHORTEST} seconds", detail)
    return Part(start, end)
