"""One client of `/v1/stream`: one task reads messages, one has audio recognized on threads, one sends the results."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from starlette.types import Message, Receive, Send

from ....util.containers.beginnings import begins_encoded_recording
from ....util.containers.wav import START_BYTES, is_wav
from ..errors import failed
from ..models import LoadedModel
from ..protocols import TOO_LARGE
from ..service import LAST_LOOK_SECONDS, Service
from ..utterances import PIECE_SECONDS
from .endings import (
    GOING_AWAY,
    INTERNAL,
    NORMAL,
    POLICY,
    Ending,
    idleness,
    message_too_large,
    silence,
    too_much_audio,
)
from .protocol import (
    Close,
    Command,
    Event,
    Finish,
    ProtocolError,
    Ready,
    Start,
    command_of,
    error_message,
    listed,
    warning_message,
)
from .queues import Audio, Inbox, Outbox

LARGEST_PIECE_SECONDS = 1.0
"""The most audio that is recognized at a time; more would delay other streams."""

SLOW_READER = Ending(POLICY, "slow_reader", "too many messages were left unread")

NOT_SAMPLES = Ending(
    POLICY,
    "not_samples",
    "the audio begins as an encoded recording does, such as WebM, Ogg or MP3; send 16-bit little-endian samples of one "
    "channel here, or the whole recording to /v1/audio/transcriptions",
)

WAV_HEADER = "the audio begins with the header of a WAV, which is heard as samples; send its samples alone"

HALF_SAMPLE = "the utterance's audio has an odd number of bytes; the last one, half a sample, is left out"


class ClientGoneError(Exception):
    """The client has disconnected."""


class LiveConnection:
    """An accepted WebSocket."""

    def __init__(self, service: Service, loaded: LoadedModel, rate: int, receive: Receive, send: Send) -> None:
        self._service = service
        self._limits = service.limits
        self._receive = receive
        self._send = send
        self._loaded = loaded
        self._utterances = service.utterances(loaded.model, rate)
        self._second = 2 * rate
        self._inbox = Inbox(*(int(seconds * self._second) for seconds in self._waiting_seconds()))
        self._outbox = Outbox(self._limits.max_unread_messages)
        self._outbox.put(Ready(loaded.name, rate).to_json())
        self._active_at = time.monotonic()

    def warn(self, code: str, message: str) -> bool:
        """Send a warning to the client; return False if it has too many unread messages."""
        return self._outbox.put(warning_message(code, message))

    async def serve(self) -> None:
        """Serve until the client has disconnected, or the last result has been sent."""
        reading = asyncio.ensure_future(self._read())
        recognizing = asyncio.ensure_future(self._recognize())
        writing = asyncio.ensure_future(self._write())
        draining = asyncio.ensure_future(self._drained())
        watching = asyncio.ensure_future(self._watch_idleness())
        tasks = [recognizing, writing, reading, draining, watching]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            ending = _ending(next(task for task in tasks if task.done()))
            if not recognizing.done():
                reading.cancel()
                self._inbox.put(Close())
                ending = await recognizing or ending
            assert ending is not None  # `_recognize` returns None only after `Close`, which is put above
            if ending.error_code is None:
                self._outbox.end()
            else:
                self._service.metrics.refused.labels(ending.error_code).inc()
                self._outbox.end(error_message(ending.error_code, ending.message))
            await writing
            await self._send({"type": "websocket.close", "code": ending.close_code})
        except (ClientGoneError, OSError):
            pass
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _waiting_seconds(self) -> tuple[float, float, float]:
        return PIECE_SECONDS, LARGEST_PIECE_SECONDS, max(self._limits.max_pending_seconds, LARGEST_PIECE_SECONDS)

    async def _read(self) -> Ending:
        """Read the client's messages, until it sends `close` or breaks a rule."""
        most_bytes = self._limits.max_stream_seconds * self._second
        pace = Pace(self._limits.max_messages_per_second)
        is_first = True
        while True:
            message = await self._next()
            await pace.keep()
            if TOO_LARGE in message:
                return message_too_large(self._limits)
            audio = message.get("bytes")
            if audio is None:
                try:
                    command = command_of(message["text"], self._limits)
                except ProtocolError as error:
                    return Ending(POLICY, error.code, str(error))
                if isinstance(command, Close):
                    return Ending(NORMAL)
                self._inbox.put(command)
            else:
                if is_first and (ending := self._judge_start(audio)) is not None:
                    return ending
                is_first = False
                most_bytes -= len(audio)
                if most_bytes < 0:
                    return too_much_audio(self._limits)
                self._inbox.put_audio(audio)
            await self._inbox.room()

    def _judge_start(self, audio: bytes) -> Ending | None:
        """Return an ending if the connection's first audio begins a file instead of samples; warn of a WAV."""
        if begins_encoded_recording(audio):
            return NOT_SAMPLES
        warned = not is_wav(audio[:START_BYTES]) or self.warn("wav_header", WAV_HEADER)
        return None if warned else SLOW_READER

    async def _next(self) -> Message:
        message = await self._receive()
        self._active_at = time.monotonic()
        if message["type"] != "websocket.receive":
            raise ClientGoneError
        return message

    async def _recognize(self) -> Ending | None:
        """Have everything recognized up to `Close`; return an ending if that fails or the connection must close."""
        while True:
            item = await self._inbox.take()
            try:
                ending = await self._perform(item) or await self._end_silence()
            except Exception as error:
                ending = _failure(error)
            self._active_at = time.monotonic()
            if ending is not None or isinstance(item, Close):
                return ending

    async def _perform(self, item: Audio | Command) -> Ending | None:
        if isinstance(item, Audio):
            return await self._hear(bytes(item.samples), item.arrived)
        if isinstance(item, Start):
            if self._utterances.in_progress:
                await self._finish(time.monotonic())
                return Ending(POLICY, "bad_message", "start: an utterance is in progress; send start before the audio")
            return await self._begin(item)
        elif isinstance(item, Finish) or self._utterances.in_progress:
            return await self._finish(item.at)
        return None

    async def _begin(self, start: Start) -> Ending | None:
        """Use the settings of `start` for the utterances that follow, without hot words that can have no effect."""
        told = ""
        if start.hot_words and not self._loaded.takes_hot_words:
            told, start = f"the model {self._loaded.name!r} has no language model", replace(start, hot_words={})
        if ignored := await self._service.of_stream(lambda: self._utterances.begin_with(start)):
            told = f"the model's alphabet cannot spell them: {listed(ignored)}"
        warned = not told or self.warn("hot_words_ignored", f"these hot words have no effect, as {told}")
        return None if warned else SLOW_READER

    async def _hear(self, samples: bytes, arrived: float) -> Ending | None:
        utterances = self._utterances
        if self._inbox.next_is(Finish):  # a partial would only delay the final
            finish = await self._inbox.take()
            assert isinstance(finish, Finish)
            return await self._finish(finish.at, samples)
        partial = not self._inbox.next_is(Close)
        seconds = len(samples) / self._second
        heard = await self._service.recognize(lambda: utterances.hear(samples, partial=partial), seconds)
        return self._tell(heard, arrived)

    async def _finish(self, said_at: float, samples: bytes = b"") -> Ending | None:
        """End the utterance after these samples; the client asked for it at `said_at` of the monotonic clock."""
        utterances = self._utterances

        def final() -> tuple[list[Event], bool]:
            heard = utterances.hear(samples, partial=False)
            is_cut = utterances.ends_in_half_a_sample
            return heard + utterances.finish(), is_cut

        heard, is_cut = await self._service.recognize(final, len(samples) / self._second)
        if is_cut and not self.warn("half_sample", HALF_SAMPLE):
            return SLOW_READER
        return self._tell(heard, said_at)

    async def _end_silence(self) -> Ending | None:
        """End the utterance, and return an ending, if the client has been silent for too long."""
        if self._utterances.silent_seconds <= self._limits.max_silence_seconds:
            return None
        if self._utterances.in_progress and (ending := await self._finish(time.monotonic())) is not None:
            return ending
        return silence(self._limits)

    def _tell(self, events: Sequence[Event], since: float) -> Ending | None:
        """Send events; return an ending if the client leaves too many unread."""
        for event in events:
            self._service.metrics.told(event, time.monotonic() - since)
            if not self._outbox.put(event):
                return SLOW_READER
        return None

    async def _write(self) -> Ending:
        while (text := await self._outbox.take()) is not None:
            await self._send({"type": "websocket.send", "text": text})
        return Ending(NORMAL)

    async def _drained(self) -> Ending:
        await self._service.draining.wait()
        return Ending(GOING_AWAY)

    async def _watch_idleness(self) -> Ending:
        """Wait until the client has sent nothing for too long, counted from the end of recognition if that is later."""
        while True:
            active_at = self._active_at
            await asyncio.sleep(active_at + self._limits.idle_seconds - time.monotonic())
            await asyncio.sleep(LAST_LOOK_SECONDS)
            if self._active_at == active_at:
                return idleness(self._limits)


def _ending(task: asyncio.Task[Ending] | asyncio.Task[Ending | None]) -> Ending | None:
    """Return the ending from a finished task; raise ClientGoneError or OSError if the client has disconnected."""
    error = task.exception()
    if error is None or isinstance(error, (ClientGoneError, OSError)):
        return task.result()
    return _failure(error)


def _failure(error: BaseException) -> Ending:
    refused = failed("a live stream", error)
    return Ending(INTERNAL, refused.code, str(refused))


class Pace:
    """Limits how many messages are read per second; the messages of one second may come at once."""

    def __init__(self, messages_per_second: int) -> None:
        self._rate = messages_per_second
        self._left = float(messages_per_second)
        self._at = time.monotonic()

    async def keep(self) -> None:
        """Count a message, and wait if it is too early."""
        if self._left < 1:
            now = time.monotonic()
            self._left = min(self._left + (now - self._at) * self._rate, self._rate)
            self._at = now
            if self._left < 1:
                await asyncio.sleep((1 - self._left) / self._rate)
        self._left -= 1
