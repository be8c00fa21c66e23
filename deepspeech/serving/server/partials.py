"""Partial transcripts of an utterance in progress, with the confidences of their words and the part that is stable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..confidence.stability import in_common, stable_text, stable_words
from ..confidence.words import HYPOTHESES_SO_FAR, words_and_letters
from ..recognition import Recognition
from ..transcripts import TimedWord, transcript

OPEN = -1.0
"""In place of the confidence of what may be incomplete: lower than all."""


@dataclass(frozen=True)
class PartialTranscript:
    """The transcript of an utterance so far; the first `stable` words and `stable_text` will not change.

    The last word has no confidence, as it may be incomplete.
    """

    text: str
    words: Sequence[TimedWord]
    confidences: Sequence[float | None]
    stable: int
    stable_text: str
    spaced: bool


class PartialTranscripts:
    """The partial transcripts of one utterance."""

    def __init__(self, recognition: Recognition) -> None:
        self._recognition = recognition
        self._text = ""
        self._done: list[str] = []
        self._confidences: list[float] = []

    def newest(self) -> PartialTranscript | None:
        """Return the transcript so far; None if its text has not changed since the last call."""
        recognition = self._recognition
        (best,) = recognition.peek()
        text = best.text.strip()
        if text == self._text:
            return None
        self._text = text
        parts = words_and_letters(best)
        done = [part.text for part in parts[:-1]]
        hypotheses = [best]
        if done != self._done or recognition.has_language_model:
            hypotheses = recognition.peek(HYPOTHESES_SO_FAR)
        if done != self._done:  # once for each of them, as confidences take longer than the search
            same = in_common(done, self._done)
            reckoned = recognition.confidences(hypotheses, range(same, len(done)))
            self._done, self._confidences = done, self._confidences[:same] + reckoned
        of_words = [*self._confidences, OPEN][: len(parts)]
        timed = transcript(best, recognition.step_seconds, of_words, recognition.start, recognition.end)
        stable = stable_text(hypotheses, has_language_model=recognition.has_language_model).lstrip()
        count = stable_words(timed.words, text, stable)
        confidences = [None if word.confidence == OPEN else word.confidence for word in timed.words]
        return PartialTranscript(text, timed.words, confidences, count, stable, timed.spaced)
