"""What all endpoints of the server share: models, threads that recognize, free places and metrics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from ..api import Model
from ..endpointing.voice_activity import VoiceActivity
from .errors import being_stopped, busy
from .metrics import Metrics
from .models import Models
from .openai.recordings import StoredRecordings
from .options import ServerOptions
from .utterances import Utterances

Result = TypeVar("Result")

MOST_THREADS = 128
"""A live stream uses a thread while it is recognized; threads that share a model compute their frames together."""

SMOOTHING = 0.1
"""The weight of the newest piece of audio in the mean lateness."""
FORGOTTEN_AFTER = 2.0
"""Seconds without recognition after which the mean lateness no longer counts."""

LAST_LOOK_SECONDS = 0.1
"""Seconds for reading what an idle client may have sent while the process stood still, as a paused container does."""


class Service:
    """The server's state. All of its methods are called on the event loop's thread."""

    def __init__(self, options: ServerOptions, models: Models) -> None:
        self.options = options
        self.limits = options.limits
        self.models = models
        self.metrics = Metrics()
        self.recordings = StoredRecordings()
        self.metrics.most_streams.set(self.limits.max_streams)
        self.metrics.loaded(models.all)
        self.metrics.queue_seconds.set_function(lambda: self.lateness)
        self.turn = asyncio.Semaphore(self.limits.max_transcriptions)
        """Held by a recording while it is transcribed."""
        self.draining = asyncio.Event()
        self.over = asyncio.Event()
        """Set when the server waits for no client any more: all results have been sent, or the time is up."""
        threads = options.threads or min(self.limits.max_streams, MOST_THREADS)
        self._live = ThreadPoolExecutor(threads, "live")
        self._files = ThreadPoolExecutor(self.limits.max_transcriptions, "files")
        self._voice = VoiceActivity() if options.voice_activity else None
        self._streams = 0
        self._uploads = 0
        self._uploaded_bytes = 0
        self._transcriptions = 0
        self._late = (0.0, time.monotonic())

    @property
    def idle(self) -> bool:
        """Whether there is neither a live stream nor a recording that arrives, waits or is transcribed."""
        return self._streams == 0 and self._uploads == 0

    @property
    def lateness(self) -> float:
        """The recent mean delay of the recognition of live audio, in seconds; 0 if there was none recently."""
        mean, at = self._late
        return mean if time.monotonic() - at < FORGOTTEN_AFTER else 0.0

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Take the place of a live stream within the context; raise RefusedError if none is free."""
        self._check_open()
        if self._streams >= self.limits.max_streams:
            raise busy(f"All live streams are in use ({self.limits.max_streams} at most)")
        self._streams += 1
        self.metrics.streams.set(self._streams)
        try:
            yield
        finally:
            self._streams -= 1
            self.metrics.streams.set(self._streams)

    @contextmanager
    def upload(self) -> Iterator[Callable[[int], None]]:
        """Keep the body of a request within the context; yield the function that counts its bytes as they arrive.

        A body that arrives slowly takes up the bytes that have arrived, and no place. Raise RefusedError if no place
        is free at the beginning, and from the function if the bodies are larger in all than those of all places can be.
        """
        self._check_open()
        self._check_place()
        most = self._places * (self.limits.max_body_megabytes << 20)
        counted = 0

        def count(received: int) -> None:
            nonlocal counted
            if self._uploaded_bytes + received > most:
                raise busy("Too many recordings are arriving")
            counted += received
            self._keep_bytes(received)

        self._uploads += 1
        try:
            yield count
        finally:
            self._uploads -= 1
            self._keep_bytes(-counted)

    @contextmanager
    def transcription(self) -> Iterator[None]:
        """Take a recording's place or a place in the queue within the context; raise RefusedError if none is free."""
        self._check_place()
        self._transcriptions += 1
        self._count_transcriptions()
        try:
            yield
        finally:
            self._transcriptions -= 1
            self._count_transcriptions()

    def utterances(self, model: Model, rate: int) -> Utterances:
        """Return the recognizer of a live stream of audio at `rate` Hz."""
        return Utterances(model, rate, self.options.endpoints, self._voice)

    async def arriving(self, receive: Callable[[], Awaitable[Result]]) -> Result | None:
        """Return what a client sends next; None if that is nothing for too long.

        Also return None when the server is stopped, even if more arrives: a client could send without a pause.
        """
        if self.draining.is_set():
            return None
        receiving, stopping = asyncio.ensure_future(receive()), asyncio.ensure_future(self.draining.wait())
        try:
            for seconds in (self.limits.idle_seconds, LAST_LOOK_SECONDS):
                done, _ = await asyncio.wait((receiving, stopping), timeout=seconds, return_when="FIRST_COMPLETED")
                if done:
                    break
            return receiving.result() if receiving.done() else None
        finally:
            receiving.cancel()
            stopping.cancel()
            await asyncio.wait((receiving, stopping))  # else what it reads from would still be in use

    async def of_stream(self, work: Callable[[], Result]) -> Result:
        """Run the work of a live stream on a thread; the caller must keep a stream's calls in order."""
        return await asyncio.get_running_loop().run_in_executor(self._live, work)

    async def of_recording(self, work: Callable[[], Result]) -> Result:
        """Run the work of a recording on a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._files, work)

    async def recognize(self, work: Callable[[], Result], audio_seconds: float = 0.0) -> Result:
        """Run the recognition of live audio of this length on a thread, and record its delay."""
        asked = time.monotonic()

        def timed() -> tuple[Result, float, float]:
            begun = time.monotonic()
            return work(), begun - asked, time.monotonic() - begun

        result, waited, worked = await self.of_stream(timed)
        self.metrics.recognized(audio_seconds, worked)
        late = waited + (max(worked - audio_seconds, 0.0) if audio_seconds else 0.0)  # the excess delays the next piece
        mean = self.lateness
        self._late = (mean + SMOOTHING * (late - mean), time.monotonic())
        return result

    def close(self) -> None:
        """End the threads after their current work."""
        self._live.shutdown(wait=False, cancel_futures=True)
        self._files.shutdown(wait=False, cancel_futures=True)

    def _check_open(self) -> None:
        if self.draining.is_set():
            raise being_stopped()
        if self.lateness > self.limits.busy_seconds:
            raise busy(f"The server is busy: live audio is late by {self.lateness:.1f} seconds")

    @property
    def _places(self) -> int:
        return self.limits.max_transcriptions + self.limits.max_waiting

    def _check_place(self) -> None:
        if self._transcriptions >= self._places:
            raise busy("Too many recordings are waiting")

    def _keep_bytes(self, more: int) -> None:
        self._uploaded_bytes += more
        self.metrics.upload_bytes.set(self._uploaded_bytes)

    def _count_transcriptions(self) -> None:
        running = min(self._transcriptions, self.limits.max_transcriptions)
        self.metrics.transcriptions.set(running)
        self.metrics.waiting.set(self._transcriptions - running)
