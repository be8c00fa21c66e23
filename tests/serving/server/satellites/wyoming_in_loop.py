"""A server of Wyoming in the event loop of a test, and the events of its clients."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from wyoming.asr import Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event

from deepspeech.serving.server.models import Models
from deepspeech.serving.server.options import Limits, ServerOptions
from deepspeech.serving.server.service import Service
from deepspeech.serving.server.wyoming.listener import wyoming_listener


@asynccontextmanager
async def served(models: Models, **limits: Any) -> AsyncIterator[tuple[Service, int]]:
    options = ServerOptions((), limits=Limits(**limits), drain_secs=5)
    service = Service(options, models)
    listening = socket.create_server(("127.0.0.1", 0))
    try:
        async with wyoming_listener(service, listening):
            yield service, listening.getsockname()[1]
    finally:
        service.close()


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test())


def client(port: int) -> AsyncTcpClient:
    return AsyncTcpClient("127.0.0.1", port, read_timeout=120)


async def speak(to: AsyncTcpClient, audio: bytes, rate: int = 16000, width: int = 2, channels: int = 1) -> None:
    await to.write_event(AudioStart(rate, width, channels).event())
    size = 1024 * width * channels
    for first in range(0, len(audio), size):
        await to.write_event(AudioChunk(rate, width, channels, audio[first : first + size]).event())
    await to.write_event(AudioStop().event())


async def answer(of: AsyncTcpClient) -> list[Event]:
    """Return the events up to the end of a transcript, or an error."""
    events = []
    while (event := await of.read_event()) is not None:
        events.append(event)
        if TranscriptStop.is_type(event.type) or Error.is_type(event.type):
            break
    return events


def transcript_of(events: list[Event]) -> str:
    assert [event.type for event in events[-2:]] == ["transcript", "transcript-stop"], events
    assert TranscriptStart.is_type(events[0].type)
    text = Transcript.from_event(events[-2]).text
    told = "".join(TranscriptChunk.from_event(event).text for event in events[1:-2])
    assert told == text
    return text
