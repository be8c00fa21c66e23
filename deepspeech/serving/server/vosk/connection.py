"""A client of Vosk's protocol: each of its messages is recognized and answered before the next is read."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

from starlette.types import Message, Receive, Send

from ....util.containers.beginnings import begins_encoded_recording
from ..errors import RefusedError, failed
from ..live.connection import LARGEST_PIECE_SECONDS, ClientGoneError, Pace
from ..live.endings import (
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
from ..live.endpoint import Query
from ..live.protocol import Event, Final, ProtocolError, Start
from ..openai.recordings import KEYWORD_BOOST
from ..protocols import TOO_LARGE
from ..service import Service
from ..utterances import HIGHEST_RATE, LOWEST_RATE, PIECE_SECONDS, Utterances
from .protocol import Config, EndOfAudio, command_of, partial_answer, result_answer

PATH = "/"

LONGEST_REASON = 123
"""Bytes of the reason with which a WebSocket is closed (RFC 6455)."""

NOT_SAMPLES = Ending(
    POLICY, "not_samples", "the audio begins as WebM, Ogg, MP3 or FLAC does; send 16-bit samples of one channel"
)


def vosk_connection(service: Service, query: Query, receive: Receive, send: Send) -> VoskConnection:
    """Return a connection by the model of the query or the first one; raise RefusedError if it cannot stream."""
    config = Config(model=query.get("model", [""])[0] or None)
    service.models.streaming(config.model)
    return VoskConnection(service, config, receive, send)


class VoskConnection:
    """An accepted WebSocket."""

    def __init__(self, service: Service, config: Config, receive: Receive, send: Send) -> None:
        self._service = service
        self._limits = service.limits
        self._config = config
        self._receive = receive
        self._send = send
        self._pace = Pace(service.limits.max_messages_per_second)
        self._utterances: Utterances | None = None
        """None before the first audio."""
        self._second = 0
        self._waiting = bytearray()
        self._partial = ""

    async def serve(self) -> None:
        """Answer messages until the client ends its audio, leaves or breaks a rule, or the server is stopped.

        An utterance that is in progress then is told before the connection is closed.
        """
        try:
            ending = await self._answer()
            if self._waiting or (self._utterances is not None and self._utterances.in_progress):
                await self._finish()
        except ClientGoneError:
            return
        except RefusedError as error:  # the first audio asks for what is not available
            ending = Ending(POLICY, error.code, str(error))
        except OSError:
            raise
        except Exception as error:
            refused = failed("a connection of Vosk's protocol", error)
            ending = Ending(INTERNAL, refused.code, str(refused))
        if ending.error_code is not None:
            self._service.metrics.refused.labels(ending.error_code).inc()
        reason = ending.message.encode()[:LONGEST_REASON].decode(errors="ignore")
        await self._send({"type": "websocket.close", "code": ending.close_code, "reason": reason})

    async def _answer(self) -> Ending:
        while (message := await self._next()) is not None:
            if TOO_LARGE in message:
                return message_too_large(self._limits)
            audio = message.get("bytes")
            if audio is not None:
                if (ending := await self._hear(audio)) is not None:
                    return ending
                continue
            try:
                command = command_of(message["text"], self._config, self._limits)
            except ProtocolError as error:
                return Ending(POLICY, error.code, str(error))
            if isinstance(command, Config):
                self._config = command
                continue
            await self._finish()
            if isinstance(command, EndOfAudio):
                return Ending(NORMAL)
        if not self._service.draining.is_set():
            return idleness(self._limits)
        return Ending(GOING_AWAY, message="the server is being stopped")

    async def _next(self) -> Message | None:
        """Return the next message; None if there is none for too long, or when the server is stopped."""
        await self._pace.keep()
        message = await self._service.arriving(self._receive)
        if message is not None and message["type"] != "websocket.receive":
            raise ClientGoneError
        return message

    async def _hear(self, audio: bytes) -> Ending | None:
        """Answer a message of audio; return an ending if the connection must close."""
        if self._utterances is None:
            if begins_encoded_recording(audio):
                return NOT_SAMPLES
            self._utterances = await self._begun()
        utterances, began = self._utterances, time.monotonic()
        self._waiting += audio
        finals: list[Final] = []
        if len(self._waiting) >= PIECE_SECONDS * self._second:
            if utterances.seconds + len(self._waiting) / self._second > self._limits.max_stream_seconds:
                self._waiting.clear()
                return too_much_audio(self._limits)
            finals = await self._hear_waiting(utterances, began)
        await self._tell(finals or None)
        if utterances.silent_seconds <= self._limits.max_silence_seconds:
            return None
        return silence(self._limits)

    async def _begun(self) -> Utterances:
        """Return the recognizer that the connection's configuration asks for; raise RefusedError if there is none."""
        loaded, config = self._service.models.streaming(self._config.model), self._config
        rate = loaded.model.sampleRate() if config.rate is None else config.rate
        if not LOWEST_RATE <= rate <= HIGHEST_RATE:
            raise RefusedError(400, "wrong_rate", f"sample_rate must be from {LOWEST_RATE} to {HIGHEST_RATE} Hz")
        utterances = self._service.utterances(loaded.model, rate)
        hot_words = dict.fromkeys(config.phrases if loaded.takes_hot_words else (), KEYWORD_BOOST)
        start = Start(hot_words, n_best=max(config.alternatives, 1))
        await self._service.of_stream(lambda: utterances.begin_with(start))
        self._second = 2 * rate
        return utterances

    async def _hear_waiting(self, utterances: Utterances, since: float, *, partial: bool = True) -> list[Final]:
        """Have the waiting audio recognized; return the utterances that end in it."""
        finals, largest = [], int(LARGEST_PIECE_SECONDS * self._second)
        while self._waiting:
            piece = bytes(self._waiting[:largest])
            del self._waiting[:largest]
            seconds = len(piece) / self._second
            hearing = functools.partial(utterances.hear, piece, partial=partial)
            finals += await self._recognized(hearing, seconds, since)
        return finals

    async def _finish(self) -> None:
        """Answer with the utterance that ends now, which is empty if there was no audio."""
        utterances, since = self._utterances, time.monotonic()
        finals: list[Final] = []
        if utterances is not None:
            finals = await self._hear_waiting(utterances, since, partial=False)
            if utterances.in_progress:
                finals += await self._recognized(utterances.finish, 0.0, since)
        await self._tell(finals)

    async def _recognized(self, work: Callable[[], list[Event]], seconds: float, since: float) -> list[Final]:
        """Do some work on `seconds` of audio that arrived at `since`; keep the partial, and return the finals."""
        finals = []
        for event in await self._service.recognize(work, seconds):
            self._service.metrics.told(event, time.monotonic() - since)
            if isinstance(event, Final):
                self._partial = ""
                finals.append(event)
            else:
                self._partial = event.text
        return finals

    async def _tell(self, finals: list[Final] | None) -> None:
        """Send an answer: utterances that have ended, or None for the one that goes on."""
        text = partial_answer(self._partial) if finals is None else result_answer(finals, self._config)
        await self._send({"type": "websocket.send", "text": text})
