"""The messages of `/v1/stream`: text messages are JSON objects, binary messages are audio.

From the client, in any order: audio as 16-bit little-endian samples of one channel at the rate of the query, and

    {"type": "start", "hot_words": {word: boost}, "beam_width": N, "n_best": N, "partials": true}
    {"type": "finish"}      the utterance ends now
    {"type": "close"}       the same, and the connection is closed

`start` and each of its fields are optional. It is for the utterances that follow it, so it must precede the audio of an
utterance. From the server, with times in seconds from the start of the connection's audio:

    {"type": "ready", "model": …, "rate": …}
    {"type": "partial", "utterance": N, "text": …, "stable": words that will stay, "stable_text": beginning of the text
     that will stay, "words": […], "end": s}
    {"type": "final", "utterance": N, "text": …, "words": […], "confidence": …, "alternatives": […],
     "start": s, "end": s, "reason": "silence" | "finish" | "longest"}
    {"type": "warning", "code": …, "message": …}   and the connection goes on
    {"type": "error", "code": …, "message": …}     and the connection is closed

A word is {"word": …, "start": s, "end": s, "confidence": 0 to 1}; an alternative has `text`, `words` and `confidence`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ....util.figures.counted import counted
from ..options import Limits

LONGEST_HOT_WORD = 100
"""Characters."""
LARGEST_BOOST = 1000.0

MOST_NAMED = 20
"""The most words of a list that a message names."""


class ProtocolError(Exception):
    """A client sent a message that the protocol does not allow. `code` is for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Start:
    """How the utterances that follow are recognized."""

    hot_words: Mapping[str, float] = field(default_factory=dict)
    beam_width: int | None = None
    n_best: int = 1
    """Transcripts of an utterance, the best one included."""
    partials: bool = True


@dataclass(frozen=True)
class Finish:
    """The utterance ends now: `at`, in seconds of the monotonic clock."""

    at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Close:
    """The utterance ends now, as with `Finish`, and so does the connection."""

    at: float = field(default_factory=time.monotonic)


Command = Start | Finish | Close


@dataclass(frozen=True)
class Word:
    """A word, from `start` to `end` in seconds from the start of the connection's audio."""

    text: str
    start: float
    end: float
    confidence: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the word as it is sent."""
        return {"word": self.text, "start": self.start, "end": self.end, "confidence": self.confidence}


@dataclass(frozen=True)
class Alternative:
    """A transcript of an utterance."""

    text: str
    words: Sequence[Word]
    confidence: float | None
    spaced: bool = True
    """Whether the model has a label with a space; otherwise, there is none between utterances either."""

    def to_json(self) -> dict[str, Any]:
        """Return the alternative as it is sent."""
        words = [word.to_json() for word in self.words]
        return {"text": self.text, "words": words, "confidence": self.confidence}


@dataclass(frozen=True)
class Ready:
    """The server is ready for the connection's audio."""

    model: str
    rate: int

    def to_json(self) -> dict[str, Any]:
        """Return the message as it is sent."""
        return {"type": "ready", "model": self.model, "rate": self.rate}


@dataclass(frozen=True)
class Partial:
    """An utterance so far, of the audio up to `end`. Its first `stable` words and `stable_text` will not change."""

    utterance: int
    text: str
    words: Sequence[Word]
    stable: int
    stable_text: str
    end: float
    spaced: bool = True
    """Whether the model has a label with a space."""

    def to_json(self) -> dict[str, Any]:
        """Return the message as it is sent."""
        return {
            "type": "partial",
            "utterance": self.utterance,
            "text": self.text,
            "stable": self.stable,
            "stable_text": self.stable_text,
            "words": [word.to_json() for word in self.words],
            "end": self.end,
        }


@dataclass(frozen=True)
class Final:
    """A whole utterance, the audio from `start` to `end`, with its transcripts, best first."""

    utterance: int
    transcripts: Sequence[Alternative]
    start: float
    end: float
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return the message as it is sent."""
        best, *others = self.transcripts
        return {
            "type": "final",
            "utterance": self.utterance,
            **best.to_json(),
            "alternatives": [other.to_json() for other in others],
            "start": self.start,
            "end": self.end,
            "reason": self.reason,
        }


Event = Partial | Final
"""A message about an utterance."""


def error_message(code: str, message: str) -> dict[str, Any]:
    """Return the message that reports an error before the connection is closed."""
    return {"type": "error", "code": code, "message": message}


def warning_message(code: str, message: str) -> dict[str, Any]:
    """Return the message that reports what is ignored, while the connection stays open."""
    return {"type": "warning", "code": code, "message": message}


def listed(words: Sequence[str]) -> str:
    """Return a list of words as text for people, shortened if there are many."""
    more = f" and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
    return ", ".join(map(repr, words[:MOST_NAMED])) + more


def command_of(text: str, limits: Limits) -> Command:
    """Return the command of a text message; raise ProtocolError if it is not one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        _bad("a text message must be a JSON object; audio goes into binary messages")
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "finish":
        return Finish()
    if kind == "close":
        return Close()
    if kind == "start":
        return _start(value, limits)
    _bad('a text message must be a JSON object with "type": "start", "finish" or "close"')


def _start(value: Mapping[str, Any], limits: Limits) -> Start:
    known = {"type", "hot_words", "beam_width", "n_best", "partials"}
    if unknown := sorted(set(value) - known):
        _bad(f"start: there is no field {unknown[0]!r}")
    given = {name: value[name] for name in known - {"type"} if value.get(name) is not None}
    partials = given.get("partials", True)
    if not isinstance(partials, bool):
        _bad("start: partials must be true or false")
    return Start(
        _hot_words(given.get("hot_words", {}), limits),
        _count(given, "beam_width", limits.max_beam_width) if "beam_width" in given else None,
        _count(given, "n_best", limits.max_alternatives) if "n_best" in given else 1,
        partials,
    )


def _hot_words(value: object, limits: Limits) -> Mapping[str, float]:
    if not isinstance(value, dict) or len(value) > limits.max_hot_words:
        _bad(f"start: hot_words must be an object of at most {counted(limits.max_hot_words, 'word')}")
    for word, boost in value.items():
        number = isinstance(boost, (int, float)) and not isinstance(boost, bool)
        if not (number and abs(boost) <= LARGEST_BOOST):  # which is also false for NaN
            _bad(f"start: hot_words: a boost must be a number from -{LARGEST_BOOST:.0f} to {LARGEST_BOOST:.0f}")
        if not 0 < len(word) <= LONGEST_HOT_WORD:
            _bad(f"start: hot_words: a word must have 1 to {LONGEST_HOT_WORD} characters")
    return {word: float(boost) for word, boost in value.items()}


def _count(value: Mapping[str, Any], name: str, most: int) -> int:
    count = value[name]
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= most:
        _bad(f"start: {name} must be a whole number from 1 to {most}")
    return count


def _bad(message: str) -> NoReturn:
    raise ProtocolError("bad_message", message)
