"""Phrases: the units that have times, in place of words, in texts written without spaces, such as Chinese."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from .hypotheses import Hypothesis, Word


def phrases(word: Word, hypothesis: Hypothesis, longest_gap: int, longest: int) -> Iterator[Word]:
    """Yield the phrases of the text that a hypothesis has between two spaces.

    The text is cut where a letter appears more than `longest_gap` frames after the previous one. Longer phrases are
    then cut at their widest gap until each takes at most `longest` frames.
    """
    first, end = (bisect_left(hypothesis.timesteps, frame) for frame in (word.start, word.end))
    labels, steps = hypothesis.labels[first:end], hypothesis.timesteps[first:end]
    begins = [*hypothesis.label_texts.letter_begins(labels), len(labels)]
    waiting = [(0, len(begins) - 1)]
    while waiting:
        begin, end = waiting.pop()
        said = slice(begins[begin], begins[end])
        start, stop = steps[said][0], steps[said][-1] + 1
        gap, _, cut = _widest_gap([steps[place] for place in begins[begin:end]])
        if gap > longest_gap or (gap and stop - start > longest):
            waiting += [(begin + cut, end), (begin, begin + cut)]
        else:
            yield Word(hypothesis.label_texts.joined(labels[said]).removeprefix(" "), start, stop)


def _widest_gap(steps: Sequence[int]) -> tuple[int, int, int]:
    """Return the widest gap between steps, the middle one of equals: its frames, a rank, and the place after it."""
    gaps = ((steps[place] - steps[place - 1], -abs(2 * place - len(steps)), place) for place in range(1, len(steps)))
    return max(gaps, default=(0, 0, 0))
