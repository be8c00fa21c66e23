"""A beam search that ends where the utterance ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ... import _ctcdecoder
from ...decoder import CTCDecoder
from .rules import Reason, RowRules

Array = npt.NDArray[np.float32]
Results = list[_ctcdecoder.Result]

SILENCE_PROBABILITY = 0.5
"""A row is silent if the blank and the space together are more probable than this."""
RESULTS_OF_PAUSE = 100
"""Results that are kept of each pause in which an utterance may have to end."""

MOST_READY = 1000
"""The most rows that wait for the search; thousands of labels take many bytes."""


@dataclass(frozen=True)
class RowEndpoint:
    """The end of an utterance, before the row `row`."""

    reason: Reason
    row: int


@dataclass(frozen=True)
class _Pause:
    """A pause in which the longest utterance may end, and its results there."""

    rank: tuple[bool, int]
    """Whether the pause has a space, and its rows; one of higher rank is preferred."""
    middle: int
    results: Results


class EndpointedSearch:
    """A search that is fed the rows of an endless signal, and takes those of one utterance.

    The rows of a silence that belong to the next utterance if this one ends in it are held back from the search until
    it is clear that it does not. So the results are those of the rows up to the end alone. The utterance ends at the
    same row however the rows are cut.
    """

    def __init__(self, decoder: CTCDecoder, rules: RowRules) -> None:
        """Begin an utterance."""
        self._search = _ctcdecoder.Stream(decoder.native)
        self._decoder = decoder
        self._space_columns = list(decoder.space_columns)
        self._rules = rules
        self._rows = 0
        self._silent_rows = 0
        self._last_silent_row = -1
        self._space_seen = False
        self._ready: list[Array] = []
        self._held: list[Array] = []
        self._best_pause: _Pause | None = None
        self._results: Results | None = None
        self.endpoint: RowEndpoint | None = None

    @property
    def earliest_end(self) -> int:
        """The earliest row at which the utterance can still end."""
        if self.endpoint is not None:
            return self.endpoint.row
        if self._best_pause is not None:
            return self._best_pause.middle
        return self._rows - (self._silent_rows if self._silence_may_end_it else 0)

    def feed(self, posteriors: Array) -> None:
        """Take rows, float32 [rows, columns + 1]; those after the endpoint are dropped."""
        spaces = posteriors[:, self._space_columns].sum(axis=1)
        silent = spaces + posteriors[:, -1] > SILENCE_PROBABILITY
        for row, is_silent, space in zip(posteriors, silent.tolist(), spaces.tolist(), strict=True):
            if self.endpoint is not None:
                return
            self._rows += 1
            if is_silent:
                self._space_seen |= space > SILENCE_PROBABILITY
                self._take_silence(row)
            else:
                self._take_speech(row)
            if self._rows == self._rules.longest_utterance and self.endpoint is None:
                self._end_longest()
            if len(self._ready) >= MOST_READY:
                self._flush()

    def can_end_within(self, rows: int) -> bool:
        """Return whether at most `rows` more rows could end the utterance."""
        silences = self._rules.silence_after_words, self._rules.silence_without_words
        by_silence = any(0 < each - self._silent_rows <= rows or 0 < each < rows for each in silences)
        return by_silence or 0 < self._rules.longest_utterance <= self._rows + rows

    def end_with_audio(self) -> None:
        """Turn the rules off, so that all rows to come are the utterance's."""
        if self.endpoint is None:
            self._release()
            self._rules = RowRules(0, 0, 0)

    def peek(self, count: int) -> Results:
        """Return up to `count` results so far, best first."""
        if self._results is not None:
            return self._results[:count]
        self._flush()
        return self._search.peek(count)

    def finish(self, count: int) -> Results:
        """Return up to `count` results up to the endpoint, or of all rows if there is none, best first."""
        if self._results is not None:
            return self._results[:count]
        if self.endpoint is None:
            self._release()
        self._flush()
        return self._search.finish(count)

    @property
    def _silence_may_end_it(self) -> bool:
        """Whether a rule can still end the utterance within the silence that the newest rows are, if they are one."""
        rules = self._rules
        return bool(rules.longest_utterance) or self._silent_rows < max(
            rules.silence_after_words, rules.silence_without_words
        )

    def _take_silence(self, row: Array) -> None:
        rules = self._rules
        self._silent_rows += 1
        self._last_silent_row = self._rows - 1
        self._held.append(row)
        self._release(self._silent_rows - self._own_silent_rows)
        if self._silent_rows not in (rules.silence_after_words, rules.silence_without_words):
            return
        if self._has_words():
            if self._silent_rows == rules.silence_after_words:
                self._end("silence", self._rows - self._silent_rows + rules.kept_silence)
        elif self._silent_rows == rules.silence_without_words:
            self._end("silence", self._rows - min(rules.kept_silence, self._silent_rows // 2))

    @property
    def _own_silent_rows(self) -> int:
        """How many of the newest rows, which are silent, belong to the utterance even if it ends in this silence."""
        rules = self._rules
        if rules.longest_utterance and self._rows > rules.last_third:  # it may end in the silence's middle
            return self._silent_rows // 2
        if self._silent_rows > (rules.silence_after_words or rules.silence_without_words):
            return self._silent_rows
        return min(self._silent_rows, rules.kept_silence)

    def _take_speech(self, row: Array) -> None:
        self._remember_pause()
        self._release()
        self._ready.append(row)
        self._silent_rows, self._space_seen = 0, False

    def _remember_pause(self) -> None:
        """Keep the results of a pause, if it is the best place so far for the longest utterance to end."""
        middle = self._last_silent_row + 1 - self._silent_rows + self._silent_rows // 2
        if not self._silent_rows or not self._rules.longest_utterance or middle < self._rules.last_third:
            return
        rank = self._space_seen, self._silent_rows
        if self._best_pause is None or rank >= self._best_pause.rank:
            self._flush()
            self._best_pause = _Pause(rank, middle, self._search.finish(RESULTS_OF_PAUSE))

    def _end_longest(self) -> None:
        self._remember_pause()
        if self._best_pause is None:
            self._release()
            self._end("longest", self._rows)
            return
        self._results = self._best_pause.results
        self._end("longest", self._best_pause.middle)

    def _end(self, reason: Reason, row: int) -> None:
        self.endpoint = RowEndpoint(reason, max(row, 1))  # at 0, the next utterance would be this one again

    def _has_words(self) -> bool:
        self._flush()
        (best,) = self._decoder.hypotheses(self._search.peek(1))
        return bool(best.words)

    def _release(self, still_held: int = 0) -> None:
        """Give the rows that are held back to the search, all but the newest `still_held`."""
        released = max(len(self._held) - still_held, 0)
        self._ready += self._held[:released]
        del self._held[:released]

    def _flush(self) -> None:
        if self._ready:
            self._search.feed(np.stack(self._ready))
            self._ready = []
