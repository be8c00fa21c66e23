"""Words with times, as recognizers give them, put together to utterances."""

from __future__ import annotations

from collections.abc import Iterable

from .....transcripts import continued
from .rows import Timed

LONGEST = 30.0
"""Seconds of an utterance at most."""
_PAUSE = 0.5
"""Seconds between words that end an utterance."""
_SENTENCE_ENDS = (".", "?", "!", "\u2026", "\u3002", "\uff1f", "\uff01", "\u0964", "\u061f", "\u06d4")


def utterances_of(words: Iterable[Timed]) -> list[Timed]:
    """Return the utterances of words: they end with a sentence, at a pause, with the speaker's turn, or after 30 s.

    A word without times belongs to the words before it. Punctuation is put after the word before it without a space.
    """
    utterances: list[Timed] = []
    for word in words:
        last = utterances[-1] if utterances else None
        if last is not None and word.start is None:
            utterances[-1] = last._replace(text=_with(last.text, word.text))
        elif last is not None and not any(map(str.isalnum, word.text)):
            utterances[-1] = last._replace(text=last.text + word.text.strip())
        elif last is not None and not _ends(last, word):
            utterances[-1] = last._replace(text=continued(last.text, word.text.strip()), end=word.end)
        elif word.text.strip() and word.start is not None:
            utterances.append(word)
    return utterances


def _with(text: str, further: str) -> str:
    return continued(text, further.strip()) if any(map(str.isalnum, further)) else text + further.strip()


def _ends(utterance: Timed, word: Timed) -> bool:
    if utterance.end is None or utterance.start is None or word.start is None or word.end is None:
        return True
    return (
        (word.speaker, word.channel) != (utterance.speaker, utterance.channel)
        or utterance.text.endswith(_SENTENCE_ENDS)
        or word.start - utterance.end >= _PAUSE
        or word.end - utterance.start > LONGEST
    )
