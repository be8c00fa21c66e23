"""The content of a report, as figures and texts, for the page and for report.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone

from ...transcripts import words_of
from ..errors import resampling
from ..errors.alignment import ErrorKinds, align
from ..errors.confusions import Confusion, Confusions, ConfusionTable, ItemErrors
from .findings import findings
from .groups import Grouping, groupings
from .results import UtteranceResult
from .summary import Summary, summarize

FORMAT = "deepspeech error report 1"

FREQUENT_ERRORS = 30
LISTED_ITEMS = 30
LARGEST_TABLE = 30
"""The number of words or labels in a table of confusions."""
LISTED_UTTERANCES = 200
"""The number of utterances to show, worst first; examples of errors are added to them. utterances.csv has all."""


@dataclass(frozen=True)
class ItemDetails:
    """The errors of words, or of labels."""

    kinds: ErrorKinds
    frequent: tuple[Confusion, ...]
    items: tuple[ItemErrors, ...]
    table: ConfusionTable


@dataclass(frozen=True)
class ListedUtterance:
    """An utterance to show; `number` is its place in utterances.csv, from 1."""

    number: int
    result: UtteranceResult


@dataclass(frozen=True)
class ErrorReport:
    """The report of a test."""

    title: str
    created: str
    """UTC, in ISO 8601."""
    test_files: tuple[str, ...]
    hours: float
    summary: Summary
    without_language_model: Summary | None
    findings: tuple[str, ...]
    words: ItemDetails
    labels: ItemDetails
    groupings: tuple[Grouping, ...]
    wrong_utterances: int
    """The number of utterances with any error."""
    utterances: tuple[ListedUtterance, ...]
    """Some of them, worst first."""

    def to_json(self) -> str:
        """Return the text of report.json."""
        settings = {
            "format": FORMAT,
            "confidence": resampling.CONFIDENCE,
            "resamples": resampling.RESAMPLES,
        }
        return json.dumps({**settings, **asdict(self)}, ensure_ascii=False, indent=1) + "\n"


def make_report(
    title: str, results: Sequence[UtteranceResult], advance: Callable[[], None] = lambda: None
) -> ErrorReport:
    """Return the report of a test; `results` are all its utterances in the order of the CSV files, at least one.

    `advance` is called after each utterance.
    """
    summary = summarize(results)
    with_model = any(result.without_language_model is not None for result in results)
    without = summarize(results, without_language_model=True) if with_model else None
    words, labels = Confusions(), Confusions()
    for number, result in enumerate(results, start=1):
        words.add(number, align(words_of(result.reference), words_of(result.hypothesis)))
        labels.add(number, align(result.reference, result.hypothesis))
        advance()
    of_words, of_labels = _details(words), _details(labels)
    grouped = groupings(results)
    return ErrorReport(
        title=title,
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        test_files=tuple(dict.fromkeys(result.csv_file for result in results)),
        hours=sum(result.seconds for result in results) / 3600,
        summary=summary,
        without_language_model=without,
        findings=tuple(findings(results, summary, without, of_words.frequent, grouped)),
        words=of_words,
        labels=of_labels,
        groupings=tuple(grouped),
        wrong_utterances=sum(map(_is_wrong, results)),
        utterances=_listed(results, [*of_words.frequent, *of_labels.frequent]),
    )


def _details(confusions: Confusions) -> ItemDetails:
    return ItemDetails(
        confusions.kinds(),
        tuple(confusions.most_frequent(FREQUENT_ERRORS)),
        tuple(item for item in confusions.by_item()[:LISTED_ITEMS] if item.errors),
        confusions.table(LARGEST_TABLE),
    )


def _listed(results: Sequence[UtteranceResult], errors: Sequence[Confusion]) -> tuple[ListedUtterance, ...]:
    wrong = [ListedUtterance(number, each) for number, each in enumerate(results, start=1) if _is_wrong(each)]
    wrong.sort(key=lambda each: (-each.result.edits.wer, -each.result.edits.cer, -each.result.loss, each.number))
    examples = {number for error in errors for number in error.examples}
    return tuple(each for place, each in enumerate(wrong) if place < LISTED_UTTERANCES or each.number in examples)


def _is_wrong(result: UtteranceResult) -> bool:
    return result.reference != result.hypothesis
