"""The comparison of two tests of the same utterances: which is better, by how much, whether by chance, and where."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...errors import CorpusError
from ...transcripts import words_of
from ..errors.alignment import Kind, align
from ..errors.resampling import Interval, Units, difference_interval, resampling_units, significance
from .results import UtteranceResult
from .summary import counts_of

SIGNIFICANT = 0.05
"""A difference with a lower probability than this counts as more than chance."""


@dataclass(frozen=True)
class RateDifference:
    """An error rate of two systems."""

    name: str
    first: float
    second: float
    interval: Interval
    """The interval of the second rate minus the first."""
    probability: float
    """The probability of so large a difference by chance alone, see `resampling.significance`."""


@dataclass(frozen=True)
class UtteranceDifference:
    """An utterance in which the systems make different numbers of word errors."""

    first: UtteranceResult
    second: UtteranceResult

    @property
    def more_errors(self) -> int:
        """Word errors of the second system minus those of the first."""
        return self.second.edits.word_edits - self.first.edits.word_edits


@dataclass(frozen=True)
class WordDifference:
    """A word with different numbers of errors in the systems: missed, replaced, or heard where it was not said."""

    word: str
    first: int
    second: int


@dataclass(frozen=True)
class Comparison:
    """Two systems on the utterances of both tests."""

    utterances: int
    words: int
    only_first: int
    only_second: int
    """Utterances of only one test; nothing else counts them."""
    by_speaker: bool
    """Whether intervals and probabilities come from drawing speakers, not utterances."""
    differing_texts: int
    """Utterances with different hypotheses."""
    rates: tuple[RateDifference, ...]
    """The rates of words, characters and utterances."""
    better: tuple[UtteranceDifference, ...]
    """Utterances in which the second system makes fewer word errors, the largest difference first."""
    worse: tuple[UtteranceDifference, ...]
    better_words: tuple[WordDifference, ...]
    worse_words: tuple[WordDifference, ...]


def compare(first: Sequence[UtteranceResult], second: Sequence[UtteranceResult]) -> Comparison:
    """Compare two tests. Raise CorpusError if they have no utterance in common.

    Two utterances are the same if they have the same recording, or part, and reference. If the folders of the
    recordings have nothing in common, as on another machine, only the file's and its folder's names must be the same.
    """
    pairs = _pairs(first, second, lambda result: (result.recording, _start(result)))
    if not pairs:
        pairs = _pairs(first, second, _name_elsewhere)
    if not pairs:
        raise CorpusError(_nothing_in_common(first, second))
    changed = [UtteranceDifference(*pair) for pair in pairs]
    better = [each for each in changed if each.more_errors < 0]
    worse = [each for each in changed if each.more_errors > 0]
    words = _word_differences(pairs)
    units, by_speaker = resampling_units([one.speaker or two.speaker for one, two in pairs])
    return Comparison(
        utterances=len(pairs),
        words=sum(one.edits.words for one, _ in pairs),
        only_first=len(first) - len(pairs),
        only_second=len(second) - len(pairs),
        by_speaker=by_speaker,
        differing_texts=sum(one.hypothesis != two.hypothesis for one, two in pairs),
        rates=tuple(_rate_differences(pairs, units)),
        better=tuple(sorted(better, key=lambda each: each.more_errors)),
        worse=tuple(sorted(worse, key=lambda each: -each.more_errors)),
        better_words=tuple(each for each in words if each.second < each.first),
        worse_words=tuple(each for each in reversed(words) if each.second > each.first),
    )


def _nothing_in_common(first: Sequence[UtteranceResult], second: Sequence[UtteranceResult]) -> str:
    references = {_name_elsewhere(result): result.reference for result in second}
    for result in first:
        reference = references.get(_name_elsewhere(result))
        if reference is not None:
            return (
                f"the two reports have other transcripts of the same recordings, such as {result.reference!r} "
                f"and {reference!r} of {result.recording}: test both models with the same transcripts and output unit"
            )
    return "the two reports have no utterance in common: test both models on the same CSV files"


def _name_elsewhere(result: UtteranceResult) -> Hashable:
    return *result.recording.replace("\\", "/").split("/")[-2:], _start(result)


def _start(result: UtteranceResult) -> float | None:
    return None if result.start is None else round(result.start, 3)


def _pairs(
    first: Iterable[UtteranceResult], second: Iterable[UtteranceResult], name: Callable[[UtteranceResult], Hashable]
) -> list[tuple[UtteranceResult, UtteranceResult]]:
    """Return the pairs of results of the same utterance; repeated utterances are paired in their order."""
    waiting: defaultdict[Hashable, list[UtteranceResult]] = defaultdict(list)
    for result in second:
        waiting[name(result), result.reference].append(result)
    pairs = []
    for result in first:
        same = waiting.get((name(result), result.reference))
        if same:
            pairs.append((result, same.pop(0)))
    return pairs


def _rate_differences(
    pairs: Sequence[tuple[UtteranceResult, UtteranceResult]], units: Units
) -> Iterator[RateDifference]:
    first, second = (counts_of([pair[system].edits for pair in pairs]) for system in (0, 1))
    for place, name in enumerate(("WER", "CER", "utterances with an error")):
        one, two = (counts[:, 2 * place : 2 * place + 2] for counts in (first, second))
        yield RateDifference(
            name,
            float(one[:, 0].sum() / max(one[:, 1].sum(), 1)),
            float(two[:, 0].sum() / max(two[:, 1].sum(), 1)),
            difference_interval(one, two, units),
            significance(one[:, 0], two[:, 0], units),
        )


def _word_differences(pairs: Sequence[tuple[UtteranceResult, UtteranceResult]]) -> list[WordDifference]:
    """Return the words with different numbers of errors, the most improved one first."""
    errors: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for pair in pairs:
        for result, counted in zip(pair, errors, strict=True):
            for step in align(words_of(result.reference), words_of(result.hypothesis)):
                if step.kind is not Kind.CORRECT:
                    counted[step.reference or step.hypothesis or ""] += 1
    words = sorted(errors[0].keys() | errors[1].keys())
    differences = [WordDifference(word, errors[0][word], errors[1][word]) for word in words]
    differing = (each for each in differences if each.first != each.second)
    return sorted(differing, key=lambda each: each.second - each.first)


def is_significant(difference: RateDifference) -> bool:
    """Return whether a difference is larger than chance would explain."""
    return difference.probability < SIGNIFICANT
