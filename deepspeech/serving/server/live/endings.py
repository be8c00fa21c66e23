"""Why a WebSocket for live speech is closed."""

from __future__ import annotations

from dataclasses import dataclass

from ....util.figures.counted import counted
from ..options import Limits

NORMAL, GOING_AWAY, POLICY, INTERNAL = 1000, 1001, 1008, 1011
"""Codes with which a WebSocket is closed (RFC 6455)."""


@dataclass(frozen=True)
class Ending:
    """Why a connection ends: the code of its close, and the error message that is sent before, if any."""

    close_code: int
    error_code: str | None = None
    message: str = ""


def message_too_large(limits: Limits) -> Ending:
    """Return the ending for a message that is larger than the limit."""
    told = f"a message may have at most {counted(limits.max_message_kilobytes, 'kilobyte')}"
    return Ending(POLICY, "message_too_large", told)


def too_much_audio(limits: Limits) -> Ending:
    """Return the ending for more audio than a connection may have."""
    most = counted(limits.max_stream_seconds, "second")
    return Ending(POLICY, "too_much_audio", f"a connection may have at most {most} of audio")


def silence(limits: Limits) -> Ending:
    """Return the ending for audio without a word for too long."""
    return Ending(NORMAL, "silence", f"no word in {counted(limits.max_silence_seconds, 'second')} of audio")


def idleness(limits: Limits) -> Ending:
    """Return the ending for a client that has sent nothing for too long."""
    return Ending(POLICY, "idle", f"no message for {counted(limits.idle_seconds, 'second')}")
