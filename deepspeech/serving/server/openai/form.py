"""The multipart form of a request for a transcription, and its checks."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from ....util.figures.counted import counted
from ..errors import RefusedError
from ..live.protocol import LONGEST_HOT_WORD
from ..options import Limits
from .recordings import no_storage

logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # errors of the form are reported to the client

FORMATS = ("json", "text", "srt", "vtt", "verbose_json")
GRANULARITIES = ("word", "segment")

CHARACTER_SETS = (b"utf-8", b"utf8", b"us-ascii", b"iso-8859-1", b"windows-1252")
"""The character sets that a form may have. Python knows others, some of which are not for text."""

MOST_FIELDS = 64
"""The most fields besides the keywords, each of which is a field."""
HELD_IN_MEMORY = 1 << 18
"""Bytes of a recording that are held in memory before it is stored on disk, as many can arrive at the same time."""
LARGEST_FIELD = 1 << 16
"""Bytes of a field other than the file."""


@dataclass(frozen=True)
class TranscriptionRequest:
    """A recording, and the form that its transcript shall have."""

    file: UploadFile
    model: str | None
    """Its name; None for the first model."""
    response_format: str = "json"
    language: str | None = None
    granularities: frozenset[str] = frozenset({"segment"})
    stream: bool = False
    temperature: float = 0.0
    """Accepted, as clients send it; has no effect on the search."""
    keywords: frozenset[str] = frozenset()
    """Words and phrases to make likelier; no effect without a language model."""


@asynccontextmanager
async def form_of(
    request: Request, limits: Limits, count_bytes: Callable[[int], None]
) -> AsyncIterator[TranscriptionRequest]:
    """Yield what the form of a request asks for, and keep its recording within the context. Raise RefusedError.

    `count_bytes` is called with the number of bytes of each piece that arrives; it may raise RefusedError.
    """
    form = await _read(request, limits, count_bytes)
    try:
        yield _checked(form, limits)
    finally:
        await form.close()


async def pieces_of(
    request: Request, limits: Limits, count_bytes: Callable[[int], None]
) -> AsyncGenerator[bytes, None]:
    """Yield the body of a request as it arrives; raise RefusedError if it is compressed or too large."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusedError(415, "wrong_content_encoding", "The body must not be compressed; send it as it is")
    most_bytes, received = limits.max_body_megabytes << 20, 0
    if int(_digits(request.headers.get("content-length"))) > most_bytes:
        raise _too_large(most_bytes)
    async for piece in request.stream():
        received += len(piece)
        if received > most_bytes:
            raise _too_large(most_bytes)
        count_bytes(len(piece))
        yield piece


async def _read(request: Request, limits: Limits, count_bytes: Callable[[int], None]) -> FormData:
    """Return the form of a request; the caller closes its files."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data":
        raise RefusedError(415, "wrong_content_type", "The body must be multipart/form-data")
    if options.get(b"charset", b"utf-8").lower() not in CHARACTER_SETS:
        raise RefusedError(415, "wrong_content_type", "The charset of a form must be utf-8")
    most_fields, body = MOST_FIELDS + limits.max_hot_words, pieces_of(request, limits, count_bytes)
    parser = _EndingParser(request.headers, body, max_files=1, max_fields=most_fields, max_part_size=LARGEST_FIELD)
    try:
        form = await parser.parse()
    except (MultiPartException, FormParserError) as error:
        message = getattr(error, "message", "") or "it is not multipart/form-data"
        raise RefusedError(400, "wrong_form", f"The form cannot be read: {message}") from error
    except OSError as error:  # a large file is written to disk while it arrives
        raise no_storage(error) from error
    if not parser.ended:
        await form.close()
        raise RefusedError(400, "wrong_form", "The form cannot be read: it ends before its last boundary")
    return form


def _checked(form: FormData, limits: Limits) -> TranscriptionRequest:
    """Return what a form asks for; raise RefusedError, naming the field, for a wrong value."""
    file, model = form.get("file"), form.get("model")
    if not isinstance(file, UploadFile):
        raise _wrong("file", "a recording is needed in this field")
    if not isinstance(model, str) or not model:
        raise _wrong("model", "the name of a model is needed in this field; /v1/models lists them")
    response_format = _text(form, "response_format", "json")
    if response_format not in FORMATS:
        raise _wrong("response_format", f"it must be one of {', '.join(FORMATS)}, not {response_format!r}")
    stream = _text(form, "stream", "false").lower()
    if stream not in ("true", "false"):
        raise _wrong("stream", "it must be true or false")
    if stream == "true" and response_format not in ("json", "text"):
        raise _wrong("stream", f"a transcript as {response_format} cannot be streamed")
    return TranscriptionRequest(
        file,
        model,
        response_format,
        _text(form, "language", "") or None,
        _granularities(form, response_format),
        stream == "true",
        _temperature(_text(form, "temperature", "0")),
        _keywords(form, limits.max_hot_words),
    )


def _granularities(form: FormData, response_format: str) -> frozenset[str]:
    given = _listed(form, "timestamp_granularities")
    for each in given:
        if each not in GRANULARITIES:
            raise _wrong("timestamp_granularities[]", f"it must be {' or '.join(GRANULARITIES)}")
    if given and response_format != "verbose_json":
        raise _wrong("timestamp_granularities[]", "it needs the response_format verbose_json")
    return frozenset(given) or frozenset({"segment"})


def _keywords(form: FormData, most: int) -> frozenset[str]:
    given = _listed(form, "keywords")
    if len(given) > most or any(len(each) > LONGEST_HOT_WORD for each in given):
        told = f"there may be at most {most} words and phrases, each of up to {LONGEST_HOT_WORD} characters"
        raise _wrong("keywords[]", told)
    return frozenset(filter(None, map(str.strip, given)))


def _temperature(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise _wrong("temperature", "it must be a number from 0 to 1")
    return value


def _text(form: FormData, name: str, default: str) -> str:
    return _as_text(name, form.get(name, default))


def _listed(form: FormData, name: str) -> list[str]:
    """Return the texts of a field that can be repeated, with or without `[]` in its name."""
    return [_as_text(each, value) for each in (f"{name}[]", name) for value in form.getlist(each)]


def _as_text(name: str, value: UploadFile | str) -> str:
    if not isinstance(value, str):
        raise _wrong(name, "it must be text, not a file")
    return value


class _EndingParser(MultiPartParser):
    """A parser that knows whether the form's last boundary has arrived; what comes before it can be cut short."""

    spool_max_size = HELD_IN_MEMORY
    ended = False

    def on_end(self) -> None:
        self.ended = True


def _digits(text: str | None) -> str:
    return text if text and text.isascii() and text.isdigit() else "0"


def _too_large(most_bytes: int) -> RefusedError:
    return RefusedError(413, "too_large", f"A request may have at most {counted(most_bytes >> 20, 'megabyte')}")


def _wrong(field: str, message: str) -> RefusedError:
    return RefusedError(400, "invalid_value", f"{field}: {message}", field)
