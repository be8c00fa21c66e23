"""Error rates of utterances, each with its confidence interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors.alignment import ErrorKinds
from ..errors.resampling import Counts, Interval, Units, rate_intervals, resampling_units
from ..metrics import EditCounts
from .results import UtteranceResult


@dataclass(frozen=True)
class Rate:
    """An error rate. Its interval is None if all draws are equal: for a single utterance, or without any error."""

    value: float
    interval: Interval | None = None


@dataclass(frozen=True)
class Summary:
    """The error rates of some utterances."""

    utterances: int
    words: int
    characters: int
    wer: Rate
    cer: Rate
    sentence_error_rate: Rate
    """The share of utterances with any word error."""
    word_errors: ErrorKinds
    drawn_by_speaker: bool
    """Whether the intervals come from resampling speakers, not utterances."""
    syllable_error_rate: Rate | None = None
    """For Mandarin, the rate of syllable errors, including wrong tones; None for other languages."""
    toneless_syllable_error_rate: Rate | None = None
    """The same without tones."""


def summarize(results: Sequence[UtteranceResult], *, without_language_model: bool = False) -> Summary:
    """Return the error rates of all utterances together, with or without the language model."""
    edits = [result.edits_without_language_model if without_language_model else result.edits for result in results]
    total = sum(edits, EditCounts())
    wrong = sum(each.word_edits > 0 for each in edits)
    units, by_speaker = resampling_units([result.speaker for result in results])
    values = (total.wer, total.cer, wrong / max(len(edits), 1))
    wer, cer, sentences = (
        Rate(value, interval) for value, interval in zip(values, _intervals(counts_of(edits), units), strict=True)
    )
    kinds = ErrorKinds(total.substitutions, total.insertions, total.deletions)
    syllables = _syllable_rates(edits, units) if total.are_mandarin else ()
    return Summary(len(results), total.words, total.characters, wer, cer, sentences, kinds, by_speaker, *syllables)


def percent(rate: float) -> str:
    """Return a rate as a text with a non-breaking space: "12.3 %"."""
    return f"{100 * rate:.1f}\u00a0%"


def counts_of(edits: Sequence[EditCounts]) -> Counts:
    """Return word errors, words, character errors, characters, wrong utterances and utterances, float64 [n, 6]."""
    rows = [
        (each.word_edits, each.words, each.character_edits, each.characters, each.word_edits > 0, 1) for each in edits
    ]
    return np.array(rows, np.float64).reshape(-1, 6)


def _syllable_rates(edits: Sequence[EditCounts], units: Units) -> Sequence[Rate]:
    rows = [(each.syllable_edits, each.syllables, each.toneless_syllable_edits, each.syllables) for each in edits]
    total = sum(edits, EditCounts())
    values = (total.syllable_error_rate, total.toneless_syllable_error_rate)
    return [Rate(*each) for each in zip(values, _intervals(np.array(rows, np.float64), units), strict=True)]


def _intervals(counts: Counts, units: Units) -> Sequence[Interval | None]:
    return [each if each.low < each.high else None for each in rate_intervals(counts, units)]
