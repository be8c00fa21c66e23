"""A comparison of two reports as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..counted import counted
from .comparison import Comparison, RateDifference, UtteranceDifference, WordDifference, is_significant
from .summary import percent

UTTERANCES_LISTED = 10
WORDS_LISTED = 10


def comparison_lines(comparison: Comparison, first: str, second: str) -> list[str]:
    """Return the lines; `first` and `second` are the names of the two reports."""
    return list(_lines(comparison, first, second))


def _lines(comparison: Comparison, first: str, second: str) -> Iterator[str]:
    yield f"A: {first}"
    yield f"B: {second}"
    yield f"{counted(comparison.utterances, 'utterance')} of {counted(comparison.words, 'word')} in both"
    for count, name in ((comparison.only_first, "A"), (comparison.only_second, "B")):
        if count:
            yield f"{counted(count, 'utterance')} only in {name}, left out here"
    yield ""
    yield f"{'':26}{'A':>9}{'B':>9}{'B - A':>10}   {'95 % interval':22}{'p':>8}"
    yield from map(_rate_line, comparison.rates)
    yield ""
    yield _verdict(comparison)
    if comparison.differing_texts:
        yield from _utterances_and_words(comparison)


def _rate_line(rate: RateDifference) -> str:
    interval = f"{_signed(rate.interval.low)} to {_signed(rate.interval.high)}"
    figures = f"{percent(rate.first):>9}{percent(rate.second):>9}{_signed(rate.second - rate.first):>10}"
    return f"{rate.name:26}{figures}   {interval:22}{rate.probability:>8.4f}".replace("\u00a0", " ")


def _verdict(comparison: Comparison) -> str:
    if not comparison.differing_texts:
        return "No difference: both heard the same in every utterance."
    rate = comparison.rates[0]
    drawn = "speakers" if comparison.by_speaker else "utterances"
    test = f"p = {rate.probability:.4f}, matched pairs of {drawn}"
    if not is_significant(rate):
        return f"No significant difference of the word error rates: it may be chance ({test})."
    better = "B" if rate.second < rate.first else "A"
    return f"{better} is better: the difference of the word error rates is significant ({test})."


def _utterances_and_words(comparison: Comparison) -> Iterator[str]:
    better, worse = len(comparison.better), len(comparison.worse)
    same = comparison.utterances - better - worse
    yield f"B makes fewer word errors in {counted(better, 'utterance')}, more in {worse}, and as many in {same}."
    yield from _words("Words that B gets wrong less often", comparison.better_words)
    yield from _words("Words that B gets wrong more often", comparison.worse_words)
    yield from _utterances("Utterances that became better in B", comparison.better)
    yield from _utterances("Utterances that became worse in B", comparison.worse)


def _words(title: str, words: Sequence[WordDifference]) -> Iterator[str]:
    if words:
        listed = ", ".join(f"{each.word} ({each.first} → {each.second})" for each in words[:WORDS_LISTED])
        more = f" and {len(words) - WORDS_LISTED} more" if len(words) > WORDS_LISTED else ""
        yield ""
        yield f"{title}, errors in A → B: {listed}{more}"


def _utterances(title: str, utterances: Sequence[UtteranceDifference]) -> Iterator[str]:
    if not utterances:
        return
    yield ""
    listed = f", {UTTERANCES_LISTED} of {len(utterances)}" if len(utterances) > UTTERANCES_LISTED else ""
    yield f"{title}{listed}:"
    for each in utterances[:UTTERANCES_LISTED]:
        one, two = each.first, each.second
        errors = f"word errors {one.edits.word_edits} → {two.edits.word_edits}"
        yield f"  {one.csv_file}:{one.line}, {errors}: {one.recording}{one.fragment}"
        yield f"    said: {one.reference!r}"
        yield f"    A:    {one.hypothesis!r}"
        yield f"    B:    {two.hypothesis!r}"


def _signed(rate: float) -> str:
    return f"{100 * rate:+.1f} %" if round(100 * rate, 1) else "0.0 %"
