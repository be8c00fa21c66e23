"""Observations of a hypothesis's words: do other hypotheses have them, and are other labels probable in their place?"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from itertools import chain
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from ...decoder import Hypothesis, Word
from .calibration import Observation

Array = npt.NDArray[np.float32]

HYPOTHESES = 50
"""Hypotheses that are compared at the end of an utterance."""
HYPOTHESES_SO_FAR = 10
"""Hypotheses that are compared while it goes on: few, to cost little."""
RIVALS = 4
"""Labels that are kept of each row, as what else may have been said."""
ROWS_AFTER_WORD = 5
"""Rows after the row of a word's last label that still show how sure the network is of the word."""


class Rivals:
    """The few most probable labels of each row of the network's output."""

    def __init__(self) -> None:
        self._columns: list[npt.NDArray[np.int32]] = []
        self._probabilities: list[Array] = []

    def feed(self, posteriors: Array) -> None:
        """Take the next rows, float32 [rows, columns + 1]; the last column is the blank's."""
        labels = posteriors[:, :-1]
        count = min(RIVALS, labels.shape[1])
        columns = np.argpartition(labels, labels.shape[1] - count, axis=1)[:, -count:]
        self._columns.append(columns.astype(np.int32))
        self._probabilities.append(labels[np.arange(len(labels))[:, None], columns])

    def forget_after(self, rows: int) -> None:
        """Keep only the first `rows` rows."""
        self._join()
        self._columns, self._probabilities = [self._columns[0][:rows]], [self._probabilities[0][:rows]]

    def highest(self, first: int, end: int, except_for: Collection[int]) -> float:
        """Return the highest probability in the rows from `first` up to, but without, `end`; 0 if there is none.

        The columns `except_for` are left out.
        """
        self._join()
        of_rows = zip(self._columns[0][first:end].tolist(), self._probabilities[0][first:end].tolist(), strict=True)
        others = (  # for so few numbers, lists are faster than arrays
            probability
            for columns, probabilities in of_rows
            for column, probability in zip(columns, probabilities, strict=True)
            if column not in except_for
        )
        return max(others, default=0.0)

    def _join(self) -> None:
        if len(self._columns) > 1:
            self._columns = [np.concatenate(self._columns)]
            self._probabilities = [np.concatenate(self._probabilities)]


def observations(
    hypothesis: Hypothesis,
    hypotheses: Sequence[Hypothesis],
    rivals: Rivals,
    spaces: Collection[int],
    places: range | None = None,
) -> list[Observation]:
    """Return the observation of each word of a hypothesis, or of the words at some places in it.

    In texts without spaces, letters with their marks are the words. A word's agreement is the share of `hypotheses`,
    weighted by probability, that have the word at an overlapping time. Its clarity is 1 minus the highest probability,
    in its rows, of a label that the word does not have. `spaces` are the columns of labels that are a space.
    """
    words, rows = words_and_letters(hypothesis), hypothesis.timesteps
    places = range(len(words)) if places is None else places
    agreements = Agreements(hypotheses)
    found = []
    for place in places:
        word = words[place]
        own = hypothesis.columns[bisect_left(rows, word.start) : bisect_left(rows, word.end)]
        following = [other.start for other in words[place + 1 : place + 2]]
        end = min([word.end + ROWS_AFTER_WORD, *(max(start, word.end) for start in following)])
        clarity = 1 - rivals.highest(word.start, end, {*own, *spaces})
        found.append(Observation(agreements.of(word), clarity))
    return found


def words_and_letters(hypothesis: Hypothesis) -> list[Word]:
    """Return what has a confidence: the words of a hypothesis, or letters where it is written without spaces."""
    return list(chain.from_iterable(hypothesis.parts))


class Agreements:
    """Which hypotheses have a word, by its text."""

    def __init__(self, hypotheses: Sequence[Hypothesis]) -> None:
        self._weights = probabilities(hypotheses)
        self._places: dict[str, dict[int, list[Word]]] = {}
        for number, hypothesis in enumerate(hypotheses):
            for word in words_and_letters(hypothesis):
                self._places.setdefault(word.text, {}).setdefault(number, []).append(word)

    def of(self, word: Word) -> float:
        """Return the share of the hypotheses, by probability, that have the word at an overlapping time."""
        places = self._places.get(word.text, {}).items()
        return min(sum(self._weights[number] for number, same in places if _overlaps(same, word)), 1.0)


def _overlaps(same: Sequence[Word], word: Word) -> bool:
    """Return whether one of the words of a hypothesis, in order, is at an overlapping time."""
    first = bisect_right(same, word.start, key=attrgetter("end"))
    return first < len(same) and same[first].start < word.end


def probabilities(hypotheses: Sequence[Hypothesis]) -> list[float]:
    """Return the probabilities of hypotheses by their scores, as if there were no others."""
    best = max(hypothesis.score for hypothesis in hypotheses)
    shares = [math.exp(hypothesis.score - best) for hypothesis in hypotheses]
    return [share / sum(shares) for share in shares]
