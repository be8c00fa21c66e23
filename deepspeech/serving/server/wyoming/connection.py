"""One client of Wyoming: its events are read, handled and answered one after the other."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

from wyoming.asr import Transcribe
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, async_write_event
from wyoming.info import Describe
from wyoming.ping import Ping, Pong

from ..errors import RefusedError, failed
from ..live.connection import Pace
from ..models import LoadedModel
from ..service import Service
from .answers import GrowingTranscript, info
from .audio import chunk_of
from .reading import LONGEST_LINE, BadEventError, read_event, text_of
from .speech import Speech

LINGER_SECONDS = 1.0
"""Seconds in which a client can read what was sent last: an error or a transcript."""


class Connection:
    """A client, from its first event to its last."""

    def __init__(self, service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._service = service
        self._limits = service.limits
        self._reader = reader
        self._writer = writer
        self._model: LoadedModel | None = None
        self._speech: Speech | None = None
        self._place = contextlib.ExitStack()
        self._pace = Pace(service.limits.max_messages_per_second)

    async def serve(self) -> None:
        """Answer events until the client leaves, sends nothing for too long, breaks a rule, or the server is stopped.

        Speech that is in progress then gets its transcript.
        """
        try:
            refused = await self._answer()
            if self._speech is not None:
                await self._finish()
            if refused is None:
                await self._linger()
        except (OSError, asyncio.TimeoutError):  # the client has gone, or does not read
            raise
        except Exception as error:
            refused = failed("a Wyoming connection", error)
        finally:
            self._place.close()
        if refused is not None:
            await self.refuse(refused)

    async def refuse(self, error: BadEventError | RefusedError) -> None:
        """Send the reason why no further event is answered."""
        self._service.metrics.refused.labels(error.code).inc()
        await self._send([Error(str(error), error.code).event()])
        await self._linger()

    async def _answer(self) -> BadEventError | RefusedError | None:
        """Answer events; return why no further one is answered, None if there is none."""
        try:
            while (event := await self._next()) is not None:
                await self._handle(event)
        except (BadEventError, RefusedError) as error:
            return error
        return None

    async def _next(self) -> Event | None:
        """Return the next event; None if there is none for too long, or when the server is stopped."""
        await self._pace.keep()
        most_audio = self._limits.max_message_kilobytes << 10
        return await self._service.arriving(lambda: read_event(self._reader, most_audio))

    async def _linger(self) -> None:
        """Read what still arrives: closing the connection before would reset it, and what was sent would be lost."""
        self._writer.write_eof()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._discard(), LINGER_SECONDS)

    async def _discard(self) -> None:
        while await self._reader.read(LONGEST_LINE):
            pass

    async def _handle(self, event: Event) -> None:
        if Describe.is_type(event.type):
            await self._send([info(self._service.models.all).event()])
        elif Ping.is_type(event.type):
            await self._send([Pong(text_of(event, "text")).event()])
        elif Transcribe.is_type(event.type):
            self._model = self._chosen(text_of(event, "name"), text_of(event, "language"))
        elif AudioStart.is_type(event.type):
            self._begin(chunk_of(event).rate)
        elif AudioChunk.is_type(event.type):
            await self._hear(chunk_of(event))
        elif AudioStop.is_type(event.type):
            await self._finish()
            self._place.close()

    def _chosen(self, name: str | None = None, language: str | None = None) -> LoadedModel:
        """Return the model of this name, or the first of this language; raise RefusedError if none takes live speech.

        A model of the same region is preferred: for en-GB, a model of en-GB comes before one of en-US.
        """
        if name is not None:
            return self._service.models.streaming(name)
        live = [model for model in self._service.models.all if model.streams]
        if not live:
            raise RefusedError(404, "model_not_found", "No model of this server takes live speech")
        wanted = _subtags(language or "")
        alike = [model for model in live if language and _subtags(model.model.language)[0] == wanted[0]]
        return next((model for model in alike if _subtags(model.model.language) == wanted), [*alike, *live][0])

    def _begin(self, rate: int) -> Speech:
        """Begin a stretch of audio; one that has not ended is dropped."""
        self._speech = None
        self._place.close()
        self._place.enter_context(self._service.stream())
        self._speech = Speech(self._service, self._model or self._chosen(), rate)
        return self._speech

    async def _hear(self, chunk: AudioChunk) -> None:
        speech = self._speech or self._begin(chunk.rate)
        await self._send(await speech.hear(chunk))

    async def _finish(self) -> None:
        """Send the transcript, which is empty if there was no audio."""
        speech, self._speech = self._speech, None
        if speech is None:
            await self._send(GrowingTranscript(None).end())
        else:
            await self._send(await speech.finish())

    async def _send(self, events: Iterable[Event]) -> None:
        """Send events; raise TimeoutError or OSError if the client does not read them."""
        for event in events:
            await asyncio.wait_for(async_write_event(event, self._writer), self._limits.slow_reader_seconds)


def _subtags(language: str) -> list[str]:
    """Return the parts of a language's tag, such as en-GB or en_GB; the first one is the language itself."""
    return language.lower().replace("_", "-").split("-")
