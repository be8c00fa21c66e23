"""The messages of Vosk's server: text messages are JSON objects, binary messages are audio.

From the client: audio as 16-bit little-endian samples of one channel, and

    {"config": {"sample_rate": Hz, "phrase_list": […], "words": true, "max_alternatives": N, "model": NAME}}
    {"reset": 1}   the utterance ends now
    {"eof": 1}     the same, and the connection is closed

`config` and each of its fields are optional. It must precede the audio, and has no answer. Each other message has one
answer, with times in seconds from the start of the connection's audio:

    {"partial": …}                        the utterance so far
    {"text": …, "result": [word, …]}      after an utterance has ended
    {"alternatives": [{"text": …, "confidence": 0 to 1, "result": [word, …]}, …]}   instead, if config asks for them

A word is {"word": …, "start": s, "end": s, "conf": 0 to 1}. Source: vosk-server's websocket/asr_server.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from ....util.transcripts import continued_by_all
from ..live.protocol import LONGEST_HOT_WORD, Alternative, Final, ProtocolError
from ..options import Limits

UNKNOWN = "[unk]"
"""Stands in lists of phrases for any other word."""


@dataclass(frozen=True)
class Config:
    """How a connection's audio is recognized, and what is told of it."""

    rate: int | None = None
    """Hz; None for the rate of the model."""
    model: str | None = None
    """Its name; None for the first that streams."""
    phrases: Sequence[str] = ()
    """Words and phrases to make likelier."""
    words: bool = True
    """Whether the words of a text are told, with their times."""
    alternatives: int = 0
    """The most transcripts to tell of an utterance; 0 for the best one, without a confidence."""


@dataclass(frozen=True)
class Reset:
    """The utterance ends now."""


@dataclass(frozen=True)
class EndOfAudio:
    """The utterance ends now, and so does the connection."""


def command_of(text: str, config: Config, limits: Limits) -> Config | Reset | EndOfAudio:
    """Return the command of a text message; raise ProtocolError if it is not one.

    `config` is what was configured before: fields that a new one does not have stay as they are.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        _bad("a text message must be a JSON object; audio goes into binary messages")
    if isinstance(value, dict) and isinstance(value.get("config"), dict):
        return _configured(value["config"], config, limits)
    if isinstance(value, dict) and "eof" in value:
        return EndOfAudio()
    if isinstance(value, dict) and "reset" in value:
        return Reset()
    _bad('a text message must be a JSON object with "config", "reset" or "eof"')


def partial_answer(text: str) -> str:
    """Return the answer while an utterance goes on."""
    return _written({"partial": text})


def result_answer(finals: Sequence[Final], config: Config) -> str:
    """Return the answer after utterances have ended in one message, in which Vosk has one at most: their joined text.

    Several utterances have one alternative: the best text of each, with the lowest of their confidences.
    """
    heard = [final for final in finals if final.transcripts[0].text]
    transcripts = heard[0].transcripts if len(heard) == 1 else [_joined([final.transcripts[0] for final in heard])]
    if not config.alternatives:
        return _written(_told(transcripts[0], config))
    told = [{"confidence": each.confidence or 0.0, **_told(each, config)} for each in transcripts]
    return _written({"alternatives": told})


def _told(transcript: Alternative, config: Config) -> dict[str, Any]:
    words = [
        {"conf": word.confidence, "end": word.end, "start": word.start, "word": word.text} for word in transcript.words
    ]
    return {**({"result": words} if words and config.words else {}), "text": transcript.text}


def _joined(parts: Sequence[Alternative]) -> Alternative:
    confidences = [part.confidence for part in parts if part.confidence is not None]
    words = [word for part in parts for word in part.words]
    spaced = all(part.spaced for part in parts)
    text = continued_by_all((part.text for part in parts), spaced=spaced)
    return Alternative(text, words, min(confidences, default=None), spaced)


def _written(answer: Mapping[str, Any]) -> str:
    """Return an answer with the spaces that Vosk writes, as some clients look for `"text" : `."""
    return json.dumps(answer, ensure_ascii=False, indent=2, separators=(",", " : "))


def _configured(given: Mapping[str, Any], config: Config, limits: Limits) -> Config:
    changed: dict[str, Any] = {}
    if "sample_rate" in given:
        changed["rate"] = _number(given, "sample_rate")
    if "max_alternatives" in given:
        changed["alternatives"] = min(max(_number(given, "max_alternatives"), 0), limits.max_alternatives)
    if "words" in given:
        changed["words"] = bool(given["words"])
    if "phrase_list" in given:
        changed["phrases"] = _phrases(given["phrase_list"], limits)
    if isinstance(given.get("model"), str):
        changed["model"] = given["model"]
    return replace(config, **changed)


def _number(given: Mapping[str, Any], name: str) -> int:
    try:
        return int(float(given[name]))
    except (TypeError, ValueError, OverflowError):
        _bad(f"config: {name} must be a number")


def _phrases(given: object, limits: Limits) -> Sequence[str]:
    """Return the words and phrases of a list; a phrase that is too long stands for its words."""
    if not isinstance(given, list):
        _bad("config: phrase_list must be a list")
    stripped = [phrase.strip() for phrase in given if isinstance(phrase, str)]
    phrases = [
        part for phrase in stripped for part in ([phrase] if len(phrase) <= LONGEST_HOT_WORD else phrase.split())
    ]
    if len(phrases) > limits.max_hot_words or any(len(phrase) > LONGEST_HOT_WORD for phrase in phrases):
        most = f"{limits.max_hot_words} words and phrases, a word with at most {LONGEST_HOT_WORD} characters"
        _bad(f"config: phrase_list may have at most {most}")
    return [phrase for phrase in phrases if phrase not in ("", UNKNOWN)]


def _bad(message: str) -> NoReturn:
    raise ProtocolError("bad_message", message)
