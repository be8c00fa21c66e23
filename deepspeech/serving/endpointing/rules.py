"""The rules that end an utterance, in seconds, and the endpoint that they find."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from ...errors import ModelError

Reason = Literal["silence", "longest"]

LONGEST_SECONDS = 10**9
"""The longest time of a rule."""


@dataclass(frozen=True)
class EndpointRules:
    """When an utterance ends, in seconds; 0 turns a rule off. Raise ModelError for a number that is not a time.

    A row of the network's output is silent if the blank and the space have more than half of its probability.
    """

    silence_after_words: float = 1.0
    """A silence of this length ends an utterance with words; the endpoint is in the middle of the silence."""
    silence_without_words: float = 5.0
    """A silence of this length ends an utterance without words, so that silence is not kept."""
    longest_utterance: float = 30.0
    """The longest utterance: at this length, an utterance ends in the longest pause of its last third."""

    def __post_init__(self) -> None:
        for field in fields(self):
            seconds = getattr(self, field.name)
            if not _is_time(seconds):
                allowed = f"seconds from 0, for no such rule, to {LONGEST_SECONDS}"
                raise ModelError(f"{field.name} is {seconds!r}, but must be {allowed}")


def _is_time(seconds: Any) -> bool:
    try:
        return bool(0 <= seconds <= LONGEST_SECONDS)
    except (TypeError, ValueError):
        return False


@dataclass(frozen=True)
class Endpoint:
    """The end of an utterance, by `silence`, or because it has reached the `longest` allowed length."""

    reason: Reason
    seconds: float
    """Seconds from the beginning of the stream's audio; the next utterance begins there."""


@dataclass(frozen=True)
class RowRules:
    """The rules in rows of the network's output, at least 1; 0 turns a rule off."""

    silence_after_words: int
    silence_without_words: int
    longest_utterance: int

    @classmethod
    def of_seconds(cls, rules: EndpointRules, row_seconds: float) -> RowRules:
        """Return the rules for rows of a length in seconds."""
        in_seconds = (getattr(rules, field.name) for field in fields(rules))
        return cls(*(max(round(seconds / row_seconds), 1) if seconds else 0 for seconds in in_seconds))

    @property
    def kept_silence(self) -> int:
        """Rows of a silence that belong to the utterance that the silence ends."""
        return (self.silence_after_words or self.silence_without_words) // 2

    @property
    def last_third(self) -> int:
        """The first row at which the longest utterance may end."""
        return self.longest_utterance * 2 // 3
