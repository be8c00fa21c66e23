"""The reference and the hypothesis of each utterance of a test: the rows of a report's utterances.csv."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ...corpus_files.speakers import speaker_of
from ...errors import CorpusError
from ...files.csv_lines import csv_writer
from ...parts import Part
from ..metrics import EditCounts, evaluate_transcript

_TEXTS = ("csv_file", "line", "recording", "reference", "hypothesis", "without_language_model")
_FIGURES = ("loss", "seconds", "loudness", "signal_to_noise")
_ERRORS = ("wer", "cer", "substitutions", "insertions", "deletions")
_OURS = (*_TEXTS, *_FIGURES, *_ERRORS)
_START = "start_seconds"
"""A further column, if any utterance is a part of its recording."""
_INSTEAD = "name the folder of a report, which --report_dir writes, or its utterances.csv"


@dataclass(frozen=True)
class UtteranceResult:
    """One utterance of a test."""

    csv_file: str
    line: int
    recording: str
    """The absolute path."""
    reference: str
    """What was said."""
    hypothesis: str
    """What was heard."""
    without_language_model: str | None = None
    """What was heard without the language model; None if `hypothesis` used none."""
    loss: float = 0.0
    """The CTC loss, in nats."""
    seconds: float = 0.0
    loudness: float | None = None
    """Decibels, see `errors.levels`; None where the recording could not be read."""
    signal_to_noise: float | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    """The utterance's further columns of the CSV."""
    start: float | None = None
    """The begin in the recording, in seconds, if the utterance is a part of it; None if it is all of it."""

    @property
    def fragment(self) -> str:
        """The suffix of the recording's address that selects the part to play; see `Part`."""
        return "" if self.start is None else Part(self.start, self.start + self.seconds).fragment

    @cached_property
    def edits(self) -> EditCounts:
        """The errors of the hypothesis."""
        return evaluate_transcript(self.reference, self.hypothesis)

    @cached_property
    def edits_without_language_model(self) -> EditCounts:
        """The errors without the language model; if none was used, those of the hypothesis."""
        without = self.without_language_model
        return self.edits if without is None else evaluate_transcript(self.reference, without)

    @cached_property
    def speaker(self) -> str:
        """The speaker; empty if unknown."""
        return speaker_of(self.columns)


def csv_of(results: Iterable[UtteranceResult]) -> str:
    """Return the text of utterances.csv: a line for each result, with the further columns of all of them."""
    results = list(results)
    further = dict.fromkeys(name for result in results for name in result.columns if name not in (*_OURS, _START))
    text = io.StringIO()
    writer = csv_writer(text)
    parts = [_START] if any(result.start is not None for result in results) else []
    writer.writerow([*_OURS, *parts, *further])
    for result in results:
        figures = [_number(getattr(result, name)) for name in _FIGURES]
        edits = result.edits
        errors = [_number(edits.wer), _number(edits.cer), edits.substitutions, edits.insertions, edits.deletions]
        texts = [getattr(result, name) for name in _TEXTS]
        start = ["" if result.start is None else f"{result.start:.3f}"] if parts else []
        writer.writerow([*texts, *figures, *errors, *start, *(result.columns.get(name, "") for name in further)])
    return text.getvalue()


def read_results(path: Path) -> list[UtteranceResult]:
    """Return the results of a report's utterances.csv. Raise CorpusError, naming the file and the fault.

    If all values of `without_language_model` are empty, they are read as None.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file, strict=True, restval=""))
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror}); {_INSTEAD}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise CorpusError(f"{path}: not the utterances of a report ({error})") from error
    if not rows:
        raise CorpusError(f"{path}: no utterances")
    missing = [name for name in _OURS if name not in rows[0]]
    if missing:
        raise CorpusError(f"{path}: not the utterances of a report: no column {missing[0]}; {_INSTEAD}")
    with_model = any(row["without_language_model"] for row in rows)
    try:
        return [_result(row, with_model) for row in rows]
    except (TypeError, ValueError) as error:
        raise CorpusError(f"{path}: not the utterances of a report ({error})") from error


def _result(row: Mapping[str, str], with_model: bool) -> UtteranceResult:
    return UtteranceResult(
        row["csv_file"],
        int(row["line"]),
        row["recording"],
        row["reference"],
        row["hypothesis"],
        row["without_language_model"] if with_model else None,
        float(row["loss"]),
        float(row["seconds"]),
        float(row["loudness"]) if row["loudness"] else None,
        float(row["signal_to_noise"]) if row["signal_to_noise"] else None,
        {name: value for name, value in row.items() if name not in (*_OURS, _START, None)},
        float(row[_START]) if row.get(_START) else None,
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
