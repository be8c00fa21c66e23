"""Groups of utterances: by speaker, length, loudness, or the value in a column of the CSV."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...corpus_files.speakers import speaker_column
from ..errors import levels
from ..metrics import EditCounts
from .results import UtteranceResult
from .summary import Summary, summarize

RANGES = 4
"""The number of ranges, of about equal size, into which numbers are grouped."""
MOST_GROUPS = 30
"""The most groups that are listed, worst first."""
FEWEST_FOR_RANGES = 8
"""The least different numbers that are grouped into ranges; in a column of the CSV, one more."""

NO_VALUE = "(no value)"
OWN_FIGURES = {"duration"}
"""Columns that a report leaves out, as it measures these values itself."""


@dataclass(frozen=True)
class Group:
    """Utterances with a common property."""

    name: str
    summary: Summary


@dataclass(frozen=True)
class Grouping:
    """All utterances, grouped by one property."""

    title: str
    definition: str
    groups: tuple[Group, ...]
    left_out: int = 0
    """The number of groups that are not listed, none of them worse than a listed one."""


def groupings(results: Sequence[UtteranceResult]) -> list[Grouping]:
    """Return the informative groupings: those with at least two groups."""
    return [grouping for grouping in _all_groupings(results) if len(grouping.groups) > 1]


def _all_groupings(results: Sequence[UtteranceResult]) -> Iterator[Grouping]:
    columns = list(dict.fromkeys(name for result in results for name in result.columns))
    speakers = dict.fromkeys(filter(None, (speaker_column(result.columns) for result in results)))
    if speakers:
        definition = f"by the column {' or '.join(speakers)}"
        yield _by_text(results, "Speaker", definition, [result.speaker for result in results])
    yield _by_text(results, "Test file", "the CSV file that lists the utterance", [each.csv_file for each in results])
    yield _by_range(results, "Duration", "seconds of the recording", "s", lambda each: each.seconds)
    yield _by_range(results, "Speaking rate", "characters of the transcript per second", "", _speaking_rate)
    yield _by_range(
        results,
        "Loudness",
        "root mean square of the recording's samples, in decibels; 0 is full scale",
        "dB",
        lambda each: each.loudness,
    )
    yield _by_range(
        results,
        "Signal-to-noise ratio",
        f"an estimate: how far the {levels.LOUD_PERCENTILE}th percentile of the levels of "
        f"{1000 * levels.FRAME_SECONDS:.0f} ms frames, assumed to be speech, is above the {levels.QUIET_PERCENTILE}th, "
        "assumed to be the noise in pauses",
        "dB",
        lambda each: each.signal_to_noise,
    )
    for column in columns:
        if column not in speakers and column not in OWN_FIGURES:
            yield from _by_column(results, column)


def _by_column(results: Sequence[UtteranceResult], column: str) -> Iterator[Grouping]:
    """Yield the grouping by a column, in ranges for numbers; none if nearly every utterance has its own value."""
    texts = [result.columns.get(column, "") for result in results]
    numbers = dict(zip(map(id, results), map(_finite, texts), strict=True))
    numeric = all(number is not None or not text for text, number in zip(texts, numbers.values(), strict=True))
    if numeric and len(set(numbers.values()) - {None}) > FEWEST_FOR_RANGES:
        yield _by_range(results, column, f"by the column {column}", "", lambda each: numbers[id(each)])
    elif len(set(texts)) <= max(len(texts) / 2, 2):
        yield _by_text(results, column, f"by the column {column}", texts)


def _by_text(results: Sequence[UtteranceResult], title: str, definition: str, texts: Sequence[str]) -> Grouping:
    members: defaultdict[str, list[UtteranceResult]] = defaultdict(list)
    for result, text in zip(results, texts, strict=True):
        members[text or NO_VALUE].append(result)
    names = sorted(members, key=lambda name: (-_wer(members[name]), name))
    groups = tuple(Group(name, summarize(members[name])) for name in names[:MOST_GROUPS])
    return Grouping(title, definition, groups, len(names) - len(groups))


def _by_range(
    results: Sequence[UtteranceResult],
    title: str,
    definition: str,
    unit: str,
    value: Callable[[UtteranceResult], float | None],
) -> Grouping:
    """Return a grouping into ranges with about equal numbers of utterances, in their order."""
    known = [(number, result) for result in results if (number := value(result)) is not None]
    numbers = np.array([number for number, _ in known])
    if len(set(numbers.tolist())) < FEWEST_FOR_RANGES:
        return Grouping(title, definition, ())
    edges = np.unique(np.quantile(numbers, np.arange(1, RANGES) / RANGES))
    places = np.searchsorted(edges, numbers)
    groups = []
    for place in range(len(edges) + 1):
        members = [result for (_, result), of_number in zip(known, places, strict=True) if of_number == place]
        if members:
            groups.append(Group(_range_name(edges.tolist(), place, unit), summarize(members)))
    return Grouping(title, definition, tuple(groups))


def _range_name(edges: Sequence[float], place: int, unit: str) -> str:
    smallest_step = min((b - a for a, b in pairwise(edges)), default=1.0)
    digits = max(0, 1 - math.floor(math.log10(smallest_step)))
    names = [f"{edge:.{digits}f}" for edge in edges]
    if place == 0:
        text = f"up to {names[0]}"
    elif place == len(edges):
        text = f"above {names[-1]}"
    else:
        text = f"{names[place - 1]} to {names[place]}"
    return f"{text}\u00a0{unit}" if unit else text


def _speaking_rate(result: UtteranceResult) -> float | None:
    return len(result.reference) / result.seconds if result.seconds else None


def _wer(results: Sequence[UtteranceResult]) -> float:
    return sum((each.edits for each in results), EditCounts()).wer


def _finite(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
