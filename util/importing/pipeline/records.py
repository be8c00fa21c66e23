"""What a reader of a corpus's format yields: records, and rows that it cannot make a record of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

SETS = ("train", "dev", "test")

TRAIN, DEV, TEST = SETS


class Record(NamedTuple):
    """One utterance: a recording, or a segment of one, and what is said in it."""

    path: str
    """Of the recording; absolute."""
    transcript: str
    """As it stands in the corpus; runs of white space become one space later."""
    source: str
    """Where it is listed, as in "validated.tsv:12"."""
    speaker: str = ""
    """Empty if it is not known."""
    official_set: str = ""
    """One of `SETS`; empty if the corpus does not say."""
    start: float = 0.0
    """Seconds."""
    duration: float | None = None
    """Seconds; None: to the end of the recording."""
    columns: Mapping[str, str] = {}
    """Further columns of the CSV."""


class LeftOut(NamedTuple):
    """A row that is not imported."""

    source: str
    """Where it is listed."""
    reason: str
    """The same for all rows of its kind."""
    path: str = ""
    """Of the recording, if it has one."""
    detail: str = ""
    """What differs from row to row."""


Item: TypeAlias = Record | LeftOut


@dataclass(frozen=True)
class Choices:
    """What a person chooses about an import."""

    split: tuple[float, float, float] | None = None
    """Shares of train, dev and test, of any sum; None: the corpus's own sets, if it has any, else `DEFAULT_SPLIT`."""
    seed: int = 1
    """Of the division into sets."""
    tiers: tuple[str, ...] = ()
    """Names of the tiers of annotations; without any, a file must have but one tier with text."""


DEFAULT_SPLIT = (90.0, 5.0, 5.0)

Reader: TypeAlias = Callable[[Path, Choices], Iterator[Item]]
"""Yields what is in a folder, which is absolute; raises ImportingError if it is not of the format."""
