"""Reads events: each is a line of JSON, then as many bytes of JSON and of audio as that line announces.

https://github.com/OHF-Voice/wyoming describes the format. That package's own reader accepts any length.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from wyoming.event import Event

LONGEST_LINE = 1 << 16
"""Bytes of an event's line, and of the JSON that follows it."""


class BadEventError(Exception):
    """A client broke the protocol or exceeded a limit. The message says how; `code` is for programs."""

    def __init__(self, message: str, code: str = "bad_event") -> None:
        super().__init__(message)
        self.code = code


async def read_event(reader: asyncio.StreamReader, most_audio: int) -> Event | None:
    """Return the next event, None at the end; raise BadEventError, or OSError if the connection is cut.

    `reader` must have `LONGEST_LINE` as its limit. An event's audio has at most `most_audio` bytes.
    """
    try:
        line = await reader.readline()
    except ValueError:
        raise BadEventError(f"an event's line has over {LONGEST_LINE} bytes") from None
    if not line:
        return None
    header = _json_object(line)
    kind = header.get("type")
    if not isinstance(kind, str):
        raise BadEventError("an event needs a type")
    data = header.get("data") or {}
    further = await _block(reader, header, "data_length", LONGEST_LINE)
    if not isinstance(data, dict):
        raise BadEventError("an event's data must be a JSON object")
    if further:
        data |= _json_object(further)
    return Event(kind, data, await _block(reader, header, "payload_length", most_audio) or None)


def text_of(event: Event, name: str) -> str | None:
    """Return a text of an event's data, None if there is none; raise BadEventError for any other value."""
    value = event.data.get(name)
    if value is None:
        return None
    try:
        value.encode()  # not possible for half a character, which JSON can escape
    except (AttributeError, UnicodeEncodeError):
        raise BadEventError(f"{event.type}: {name} must be text") from None
    return str(value)


async def _block(reader: asyncio.StreamReader, header: dict[str, Any], name: str, most: int) -> bytes:
    length = header.get(name) or 0
    if not isinstance(length, int) or not 0 <= length <= most:
        raise BadEventError(f"{name} must be a whole number of at most {most} bytes")
    try:
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError:
        raise BadEventError("the connection ends within an event") from None


def _json_object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise BadEventError("an event must be a JSON object on one line")
    return value
