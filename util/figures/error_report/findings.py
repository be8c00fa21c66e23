"""The most important facts about a test's errors, as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors.confusions import Confusion
from .groups import Grouping
from .results import UtteranceResult
from .summary import Summary, percent

FEWEST_UTTERANCES = 10
"""The least utterances of a group that can be called worse than the others."""
WORSE = 1.25
"""A group is called worse if its word error rate is this many times that of all utterances, and not by chance."""
GROUPS_NAMED = 5
FEWEST_ERRORS = 10
"""The least word errors for a sentence on whether few utterances have most of them."""
CONCENTRATED = 0.25
"""If this share of the utterances, or less, has half of all errors, these utterances are called few."""
PREVAILING = 0.5
"""A kind of error is said to prevail if it is more than this share of all word errors."""

_ISOLATE, _END_OF_ISOLATE = "\u2068", "\u2069"


def findings(
    results: Sequence[UtteranceResult],
    summary: Summary,
    without_language_model: Summary | None,
    frequent: Sequence[Confusion],
    groupings: Sequence[Grouping],
) -> list[str]:
    """Return the sentences, most important first."""
    if not summary.word_errors.total:
        return ["Every word was recognized correctly."]
    return [
        *_concentration(results, summary),
        *_worse_groups(summary, groupings),
        *_kinds(summary),
        *_language_model(summary, without_language_model),
        *_most_frequent(summary, frequent),
    ]


def quoted(text: str | None) -> str:
    """Return a text in quotes and isolated, so that right-to-left text does not reorder the sentence around it."""
    return f"“{_ISOLATE}{text}{_END_OF_ISOLATE}”"


def _concentration(results: Sequence[UtteranceResult], summary: Summary) -> Iterator[str]:
    if summary.word_errors.total < FEWEST_ERRORS:
        return
    errors = sorted((result.edits.word_edits for result in results), reverse=True)
    count = covered = 0
    while covered < summary.word_errors.total / 2:
        covered += errors[count]
        count += 1
    if count <= CONCENTRATED * summary.utterances:
        yield (
            f"Half of all word errors are in {count} of {summary.utterances} utterances "
            f"({percent(count / summary.utterances)}); the worst are at the end of this page."
        )
    else:
        wrong = percent(summary.sentence_error_rate.value)
        yield f"Word errors are spread over the whole test: {wrong} of the utterances have one."


def _worse_groups(summary: Summary, groupings: Sequence[Grouping]) -> Iterator[str]:
    """Yield a sentence for each group that is clearly worse than all together, the most excess errors first."""
    worse = []
    for grouping in groupings:
        for group in grouping.groups:
            wer = group.summary.wer
            if wer.interval is None or group.summary.utterances < FEWEST_UTTERANCES:
                continue
            if wer.interval.low > summary.wer.value and wer.value > WORSE * summary.wer.value:
                excess = (wer.value - summary.wer.value) * group.summary.words
                worse.append((excess, grouping.title, group))
    for _, title, group in sorted(worse, key=lambda each: -each[0])[:GROUPS_NAMED]:
        yield (
            f"{title} {quoted(group.name)} is worse than all together: WER {percent(group.summary.wer.value)} against "
            f"{percent(summary.wer.value)}, in {group.summary.utterances} utterances."
        )


def _kinds(summary: Summary) -> Iterator[str]:
    errors = summary.word_errors
    if errors.deletions > PREVAILING * errors.total:
        share = percent(errors.deletions / errors.total)
        yield f"{share} of the word errors are deletions: words are missed rather than replaced by others."
    if errors.insertions > PREVAILING * errors.total:
        share = percent(errors.insertions / errors.total)
        yield f"{share} of the word errors are insertions: words are heard where nothing was said, or are split."


def _language_model(summary: Summary, without: Summary | None) -> Iterator[str]:
    if without is None:
        return
    change = "lowers" if summary.wer.value < without.wer.value else "does not lower"
    yield (
        f"The language model {change} the word error rate: {percent(summary.wer.value)} with it, "
        f"{percent(without.wer.value)} without."
    )


def _most_frequent(summary: Summary, frequent: Sequence[Confusion]) -> Iterator[str]:
    if not frequent or frequent[0].count < 2:
        return
    first = frequent[0]
    if first.reference is None:
        what = f"{quoted(first.hypothesis)} is heard where nothing was said"
    elif first.hypothesis is None:
        what = f"{quoted(first.reference)} is missed"
    else:
        what = f"{quoted(first.reference)} is heard as {quoted(first.hypothesis)}"
    share = percent(first.count / summary.word_errors.total)
    yield f"The most frequent error: {what}, {first.count} times ({share} of all word errors)."
