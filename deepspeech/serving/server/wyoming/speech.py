"""A stretch of audio, from `audio-start` to `audio-stop`, and its transcript."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wyoming.audio import AudioChunk
from wyoming.event import Event

from ....util.figures.counted import counted
from ..live.protocol import Event as Heard
from ..live.protocol import Final
from ..models import LoadedModel
from ..service import Service
from ..utterances import PIECE_SECONDS
from .answers import GrowingTranscript
from .audio import sixteen_bits
from .reading import BadEventError


class Speech:
    """The audio of one client between `audio-start` and `audio-stop`."""

    def __init__(self, service: Service, loaded: LoadedModel, rate: int) -> None:
        """Take audio at `rate` Hz."""
        self._service = service
        self._limits = service.limits
        self._utterances = service.utterances(loaded.model, rate)
        self._transcript = GrowingTranscript(loaded.model.language or None)
        self._rate = rate
        self._waiting = bytearray()

    async def hear(self, chunk: AudioChunk) -> list[Event]:
        """Take audio, and return the events that it causes.

        Raise BadEventError for audio of another rate, for too much audio, and for too much audio without a word.
        """
        if chunk.rate != self._rate:
            raise BadEventError(f"audio-chunk: its rate is {chunk.rate}, but the audio began with {self._rate}")
        self._waiting += sixteen_bits(chunk)
        seconds = len(self._waiting) / (2 * self._rate)
        if seconds < PIECE_SECONDS:
            return []
        if self._utterances.seconds + seconds > self._limits.max_stream_seconds:
            told = f"there may be at most {counted(self._limits.max_stream_seconds, 'second')} of audio"
            raise BadEventError(told, "too_much_audio")
        events = await self._hear_waiting()
        if self._utterances.silent_seconds > self._limits.max_silence_seconds:
            raise BadEventError(f"no word in {counted(self._limits.max_silence_seconds, 'second')} of audio", "silence")
        return events

    async def finish(self) -> list[Event]:
        """Return the events with the rest of the transcript, and with all of it."""
        told = await self._hear_waiting()
        if self._utterances.in_progress:
            told += self._told(await self._recognized(self._utterances.finish, 0.0))
        return [*told, *self._transcript.end()]

    async def _hear_waiting(self) -> list[Event]:
        samples = bytes(self._waiting)
        self._waiting.clear()
        heard = await self._recognized(lambda: self._utterances.hear(samples), len(samples) / (2 * self._rate))
        return self._told(heard)

    async def _recognized(self, work: Callable[[], Sequence[Heard]], audio_seconds: float) -> Sequence[Heard]:
        """Do some work on audio, count it in the server's metrics, and return its result."""
        heard = await self._service.recognize(work, audio_seconds)
        for event in heard:
            if isinstance(event, Final):
                self._service.metrics.utterances.labels(event.reason).inc()
        return heard

    def _told(self, heard: Sequence[Heard]) -> list[Event]:
        return [told for event in heard for told in self._transcript.grow(event)]
