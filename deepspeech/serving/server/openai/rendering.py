"""Transcripts as OpenAI's interface writes them."""

from __future__ import annotations

import json
import zlib
from typing import Any

from starlette.responses import JSONResponse, PlainTextResponse, Response

from ...subtitles import cues, srt, webvtt
from ...transcripts import TimedWord, Transcript
from .form import TranscriptionRequest


def rendered(spoken: Transcript, seconds: float, language: str, asked: TranscriptionRequest) -> Response:
    """Return the answer: the transcript of a recording of this length in the form that the request asks for.

    `language` is the model's; if it is empty, the answer has that of the request.
    """
    if asked.response_format == "json":
        return JSONResponse({"text": spoken.text, "usage": _usage(seconds)})
    if asked.response_format == "verbose_json":
        return JSONResponse(_verbose(spoken, seconds, language or asked.language or "", asked))
    if asked.response_format == "srt":
        return PlainTextResponse(srt(cues(spoken.words, text=spoken.text)))
    if asked.response_format == "vtt":
        return PlainTextResponse(webvtt(cues(spoken.words, text=spoken.text)), media_type="text/vtt")
    return PlainTextResponse(f"{spoken.text}\n")


def delta(text: str) -> bytes:
    """Return a server-sent event: further text of a transcript."""
    return event({"type": "transcript.text.delta", "delta": text})


def done(text: str, seconds: float) -> bytes:
    """Return a server-sent event: all of a transcript."""
    return event({"type": "transcript.text.done", "text": text, "usage": _usage(seconds)})


def event(value: dict[str, Any]) -> bytes:
    """Return a server-sent event."""
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def _usage(seconds: float) -> dict[str, Any]:
    return {"type": "duration", "seconds": round(seconds)}


def _verbose(spoken: Transcript, seconds: float, language: str, asked: TranscriptionRequest) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "task": "transcribe",
        "language": language,
        "duration": round(seconds, 3),
        "text": spoken.text,
        "usage": _usage(seconds),
    }
    if "segment" in asked.granularities:
        answer["segments"] = [
            _segment(number, cue.start, cue.end, cue.text, asked)
            for number, cue in enumerate(cues(spoken.words, text=spoken.text))
        ]
    if "word" in asked.granularities:
        answer["words"] = [_word(word) for word in spoken.words]
    return answer


def _word(word: TimedWord) -> dict[str, Any]:
    return {"word": word.text, "start": word.start, "end": word.end, "confidence": word.confidence}


def _segment(number: int, start: float, end: float, text: str, asked: TranscriptionRequest) -> dict[str, Any]:
    """Return a segment; fields that only OpenAI's models fill have neutral values."""
    encoded = text.encode()
    return {
        "id": number,
        "seek": 0,
        "start": start,
        "end": end,
        "text": text,
        "tokens": [],
        "temperature": asked.temperature,
        "avg_logprob": 0.0,
        "compression_ratio": round(len(encoded) / max(len(zlib.compress(encoded)), 1), 3),
        "no_speech_prob": 0.0,
    }
