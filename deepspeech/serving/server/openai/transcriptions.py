"""`POST /v1/audio/transcriptions` and `/stt`: a recording is read, and transcribed when its turn comes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ....util.transcripts import continued
from ...transcripts import Transcript, joined
from ..errors import RefusedError, being_stopped, failed
from ..models import LoadedModel
from ..options import Limits
from ..service import Service
from .form import TranscriptionRequest, form_of
from .recordings import transcribed
from .rendering import delta, done, event, rendered

Part = tuple[float, float, Transcript]
"""Start and end in seconds, and the transcript."""

Reading = Callable[[Request, Limits, Callable[[int], None]], AbstractAsyncContextManager[TranscriptionRequest]]
"""Reads what a request asks for, within the server's limits, and counts its bytes as they arrive."""

LAST_SECONDS = 0.5
"""Seconds in which a transcription that is stopped can report this to its client when the server ends."""


class TranscriptionEndpoint:
    """Answers requests for transcriptions."""

    def __init__(self, service: Service, reading: Reading = form_of) -> None:
        self._service = service
        self._reading = reading

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; raise RefusedError if no answer has begun. Stop when the client disconnects."""
        begun = time.monotonic()
        if scope["http_version"] == "1.0":
            send = _sending_whole(send)
        request, ending = Request(scope, receive), None
        with self._service.upload() as count_bytes, suppress(ClientDisconnect):
            async with self._reading(request, self._service.limits, count_bytes) as asked:
                with self._service.transcription():
                    ending = await self._in_time(receive, self._answer(asked, send))
        if ending is not None:  # sent here, so that the place is free once the client has its answer
            await ending(scope, receive, send)
            self._service.metrics.transcription_seconds.observe(time.monotonic() - begun)

    async def _answer(self, asked: TranscriptionRequest, send: Send) -> ASGIApp:
        """Transcribe a recording; return what sends the answer, or the end of an answer that was streamed."""
        loaded = self._service.models.named(asked.model)
        async with self._service.turn, self._parts(loaded, asked) as parts:
            if asked.stream:
                await self._stream(parts, send)
                return _end_of_stream
            heard = [part async for part in parts]
            spoken = joined([(start, transcript) for start, _, transcript in heard])
            return rendered(spoken, heard[-1][1], loaded.model.language, asked)

    async def _in_time(self, receive: Receive, work: Coroutine[Any, Any, ASGIApp]) -> ASGIApp | None:
        """Do the work and return its result; stop and return None when the client disconnects.

        Also stop when the server's time is up, and raise RefusedError if no answer has begun.
        """
        working = asyncio.ensure_future(work)
        gone, over = asyncio.ensure_future(_gone(receive)), asyncio.ensure_future(self._service.over.wait())
        try:
            await asyncio.wait({working, gone, over}, return_when=asyncio.FIRST_COMPLETED)
            if over.done() and not working.done():
                working.cancel()
                await asyncio.wait({working}, timeout=LAST_SECONDS)
                if working.cancelled() or not working.done():
                    raise being_stopped()
            return working.result() if working.done() else None
        finally:
            for task in (working, gone, over):
                task.cancel()
            ended = asyncio.gather(working, gone, return_exceptions=True)
            await asyncio.wait({ended}, timeout=0 if over.done() else None)

    async def _stream(self, parts: AsyncIterator[Part], send: Send) -> None:
        """Send the text as server-sent events while it grows; an error after the first event is sent as the last."""
        text, end, begun = "", 0.0, False
        try:
            async for _, part_end, transcript in parts:
                if not begun:
                    await _begin_events(send)
                    begun = True
                longer = continued(text, transcript.text.rstrip(" "), spaced=transcript.spaced)
                if longer != text:
                    await _send_event(send, delta(longer[len(text) :]))
                text, end = longer, part_end
            await _send_event(send, done(text, end))
        except asyncio.CancelledError:
            if not begun or not self._service.over.is_set():
                raise
            await self._fail(being_stopped(), send)
        except Exception as error:
            if not begun:
                raise
            await self._fail(
                error if isinstance(error, RefusedError) else failed("a streamed transcription", error), send
            )

    async def _fail(self, refused: RefusedError, send: Send) -> None:
        """Count an error after the answer has begun, and send it as the last event."""
        self._service.metrics.refused.labels(refused.code).inc()
        await _send_event(send, event(refused.to_json()))

    @asynccontextmanager
    async def _parts(self, loaded: LoadedModel, asked: TranscriptionRequest) -> AsyncIterator[AsyncIterator[Part]]:
        """Yield the transcribed parts of a recording; each is computed on a thread on demand."""
        file, stored, longest = asked.file, self._service.recordings, self._service.limits.max_file_seconds
        keywords = asked.keywords if loaded.takes_hot_words else ()
        parts = PartsOnThreads(transcribed(loaded.model, stored, file.file, file.filename or "", longest, keywords))

        async def computed() -> AsyncIterator[Part]:
            while True:
                begun = time.monotonic()
                part = await self._service.of_recording(parts.take)
                if part is None:
                    return
                self._service.metrics.transcribed(part[1] - part[0], time.monotonic() - begun)
                yield part

        try:
            yield computed()
        finally:
            await asyncio.shield(self._service.of_recording(parts.close))


class PartsOnThreads:
    """An iterator whose steps may run on different threads; `close` waits for the current step."""

    def __init__(self, parts: Generator[Part, None, None]) -> None:
        self._parts = parts
        self._stepping = threading.Lock()

    def take(self) -> Part | None:
        """Return the next part; None at the end."""
        with self._stepping:
            return next(self._parts, None)

    def close(self) -> None:
        """Free what the iterator holds."""
        with self._stepping:
            self._parts.close()


def _sending_whole(send: Send) -> Send:
    """Return what sends an answer with its length once it is whole, as HTTP/1.0 has no other way to end one."""
    start: Message = {}
    body = bytearray()

    async def collect(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
            return
        body.extend(message["body"])
        if not message.get("more_body", False):
            others = [header for header in start["headers"] if header[0] != b"content-length"]
            await send({**start, "headers": [*others, (b"content-length", b"%d" % len(body))]})
            await send({"type": "http.response.body", "body": bytes(body)})

    return collect


async def _end_of_stream(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.body", "body": b""})


async def _begin_events(send: Send) -> None:
    headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def _send_event(send: Send, event: bytes) -> None:
    await send({"type": "http.response.body", "body": event, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
