"""The items that a format's reader yields: records, and rows that cannot become records."""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ...corpus_files.lookup import Lookup
from ...corpus_files.rows import Entry, Unusable

log = logging.getLogger(__name__)

SETS = ("train", "dev", "test")

TRAIN, DEV, TEST = SETS

NO_TRANSCRIPT = "no transcript beside it"
SAME_NAME = "another recording has the same name with another ending"
"""Why recordings of a folder are left out whose transcripts were not looked at, as there is none for them alone."""

SURPLUS = "more fields than the header has columns"
"""Why a row is left out whose text contains the separator of fields, so that only a part of it would be read."""

OF_ANOTHER_LIST = "an utterance of another list, too; keep one of the lists"
"""Why a row is left out that would be trained on twice, or trained on and tested with."""

WRONG_TIMES = "a start, duration or end that cannot be used"
"""Why a row is left out whose columns name no part of a recording."""

_SIDE = re.compile(r"[AB]\d?")


class Record(NamedTuple):
    """One utterance: a recording, or a segment of one, and its transcript."""

    path: str
    """The absolute path of the recording."""
    transcript: str
    """As in the corpus; runs of white space become one space later."""
    source: str
    """The place in the list, as in "validated.tsv:12"."""
    speaker: str = ""
    """Empty if unknown."""
    official_set: str = ""
    """One of `SETS`; empty if the corpus does not say."""
    start: float = 0.0
    """Seconds."""
    duration: float | None = None
    """Seconds; None: to the end of the recording."""
    columns: Mapping[str, str] = {}
    """Further columns of the CSV."""
    channel: int | None = None
    """The only channel of the recording that has the utterance, from 0; None: the mean of all."""


class LeftOut(NamedTuple):
    """A row that is not imported."""

    source: str
    """The place in the list."""
    reason: str
    """The same for all rows of its kind."""
    path: str = ""
    """The path of the recording, if there is one."""
    detail: str = ""
    """The details of this row."""


Item: TypeAlias = Record | LeftOut


def item_of(entry: Entry | Unusable, file: str, official_set: str) -> Item:
    """Return the record of a line of the list named `file`, or why it is left out."""
    where = f"{file}:{entry.line}"
    if isinstance(entry, Unusable):
        return LeftOut(where, entry.reason, entry.path, entry.detail)
    path, transcript, speaker, start, duration = entry[1:6]
    return Record(path, transcript, where, speaker, official_set, start or 0.0, duration, entry.columns, entry.channel)


def once(record: Record, place: str, place_of: Lookup, reason: str, utterance: str = "") -> Item:
    """Return the record, or why it is left out, `reason`, if another `place` that was read before has its utterance.

    `place` is the list or the folder that has the record; `place_of` remembers those of all records. Unless they are
    given, the recording, the start and the channel tell that two utterances are the same.
    """
    utterance = utterance or _utterance(record)
    first = place_of.get(utterance)
    if first is None:
        place_of.put(utterance, place)
    elif first != place:
        return LeftOut(record.source, reason, record.path, first)
    return record


def each_once(items: Iterable[Item], *, divided: bool) -> Iterator[Item]:
    """Yield the items of several lists; an utterance of a list is left out if a list before has it, too.

    One for validation may also be one of the test, as where both have the same list, unless all utterances are
    `divided` into other sets. If most records are utterances that their list has with another text before, a warning
    says what is wrong.
    """
    records, others, example = 0, 0, ""
    with ExitStack() as stack:
        known = defaultdict[str, Lookup](lambda: stack.enter_context(Lookup()))  # the list and the text of utterances
        for item in items:
            if isinstance(item, Record):
                records += 1
                of_list, utterance = item.source.rpartition(":")[0], _utterance(item)
                apart = item.official_set if item.official_set in (DEV, TEST) and not divided else ""
                own = known[apart]
                compared = [own] if apart else known.values()
                first, _, text = next(filter(None, (each.get(utterance) for each in compared)), "").partition("\n")
                if not first:
                    own.put(utterance, f"{of_list}\n{item.transcript}")
                elif first != of_list:
                    item = LeftOut(item.source, OF_ANOTHER_LIST, item.path, first)
                elif text != item.transcript:
                    others, example = others + 1, example or item.source
            yield item
    if 2 * others > records:
        log.warning(
            "%s: another text of the same recording, as are %d of %d rows; if they are parts of it, name the columns "
            "of their times start and end",
            *(example, others, records),
        )


def _utterance(record: Record) -> str:
    return f"{record.path}\n{record.start:.3f} {record.channel}"


def side_of_call(path: str, name: str) -> int | None:
    """Return the channel of a telephone call of the LDC that A or B names, also as A1; None of other recordings."""
    return "AB".find(name[0]) if _SIDE.fullmatch(name) and path.lower().endswith(".sph") else None


@dataclass(frozen=True)
class Choices:
    """The user's choices for an import."""

    split: tuple[float, float, float] | None = None
    """Shares of train, dev and test, with any sum; None: the corpus's own sets, if it has any, else `DEFAULT_SPLIT`."""
    seed: int = 1
    """The seed of the division into sets."""
    speakers: str = ""
    """How the paths of recordings end that name their speakers, such as "{speaker}/*"; empty: paths name none."""
    tiers: tuple[str, ...] = ()
    """Names of the tiers of annotations, in which {speaker} stands for any name; without any, a file has one tier."""
    parts: tuple[str, ...] = ()
    """Parts of a corpus that is published in parts, such as train-clean-100; none: the standard ones, or all."""
    download: bool = False
    """Whether the published corpus is downloaded if the folder of its recordings is not given."""
    lists: tuple[Path, ...] = ()
    """The lists to read in the folder; none: all of them."""
    out: Path | None = None
    """The folder of the imported corpus, of which nothing is read, as it may be below the folder of the recordings."""
    writes: bool = False
    """Whether recordings that are not in files of their own are written into `out`."""


DEFAULT_SPLIT = (90.0, 5.0, 5.0)


def read_split(text: str) -> tuple[float, float, float]:
    """Parse shares such as "90:5:5"; raise ValueError, saying what is wrong."""
    try:
        train, dev, test = (float(share) for share in text.split(":"))
    except ValueError:
        raise ValueError(f"{text!r} is not three numbers, such as 90:5:5") from None
    if not (min(train, dev, test) >= 0 and 0 < train + dev + test < float("inf")):
        raise ValueError(f"{text!r}: shares are numbers of 0 or more, and not all 0")
    return train, dev, test


Reader: TypeAlias = Callable[[Path, Choices], Iterator[Item]]
"""Yields the items of a folder, an absolute path; raises ImportingError if it has another format, or CorpusError."""
