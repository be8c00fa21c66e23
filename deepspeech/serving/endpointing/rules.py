"""The rules that end an utterance, in seconds, and where they say that it ends."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from ...errors import ModelError

Reason = Literal["silence", "longest"]

LONGEST_SECONDS = 10**9
"""No time of a rule is longer."""


@dataclass(frozen=True)
class EndpointRules:
    """When an utterance ends, in seconds; 0 turns a rule off. Raise ModelError for a number that is not a time.

    A row of the network's output is silent if the blank and the space have more than half of its probability.
    """

    silence_after_words: float = 1.0
    """A silence of this length ends an utterance that has words, in the middle of this silence."""
    silence_without_words: float = 5.0
    """A silence of this length ends an utterance without words, so that silence is not kept."""
    longest_utterance: float = 30.0
    """No utterance is longer: at this length it ends in the longest pause of its last third."""

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
    """The end of an utterance: `silence`, or `longest` for the end of the longest one that is allowed."""

    reason: Reason
    seconds: float
    """From the begin of the stream's audio, which the audio of the next utterance begins at."""


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
        """Rows of the silence that belong to the utterance before it, when that one ends."""
        return (self.silence_after_words or self.silence_without_words) // 2

    @property
    def last_third(self) -> int:
        """The first row of an utterance at which the longest one may end."""
        return self.longest_utterance * 2 // 3
