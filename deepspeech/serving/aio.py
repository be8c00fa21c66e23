"""The Python interface for asyncio: computations run in threads and do not block the event loop.

async with AsyncModel(Model("output_graph.pb")) as model:
    print((await model.transcribe("speech.wav")).text)
    async with model.stream() as stream:
        async for samples in microphone:
            await stream.feed(samples)
        print((await stream.finish()).text)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from typing import Any, TypeVar

from ..errors import ModelError
from .api import Model
from .arguments.checks import count as checked_count
from .arguments.checks import of_kind
from .arguments.samples import Samples
from .batching.scheduler import MOST_STREAMS
from .endpointing.rules import Endpoint, EndpointRules
from .endpointing.voice_activity import VoiceActivity
from .streams import TranscriptStream
from .transcripts import Partial, Transcript, joined

Result = TypeVar("Result")


class AsyncModel:
    """A model with awaitable methods. A context manager: leaving it waits for the threads.

    Tasks may share one. `model` is the model itself, for its settings.
    """

    def __init__(self, model: Model, threads: int | None = None) -> None:
        """Take a model and the number of calls that run at once; by default, MOST_STREAMS.

        The network computes for these calls together, which takes less time than one after the other. Raise ModelError
        for a number below 1, and for anything but a `Model`; for the path of a model, use `load`.
        """
        self.model = of_kind(model, Model, "model")
        number = MOST_STREAMS if threads is None else checked_count(threads, "threads")
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="deepspeech")
        self._closed = False

    @classmethod
    async def load(
        cls, model_path: str | PathLike[str], threads: int | None = None, precision: str = "float32"
    ) -> AsyncModel:
        """Load a model as `Model` does, and raise what it raises."""
        return cls(await asyncio.get_running_loop().run_in_executor(None, Model, model_path, precision), threads)

    async def __aenter__(self) -> AsyncModel:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Wait until the calls that have begun are done, and end the threads. Later calls raise ModelError."""
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)

    async def transcribe(self, audio: str | PathLike[str] | Samples) -> Transcript:
        """Return what `Model.transcribe` returns, with the current settings, or raise what it raises.

        A task that is cancelled stops before the next part of a long recording.
        """
        parts, recognizer = self.model.parts(audio), self.model.recognizer()
        transcripts = []
        while (part := await self._run(next, parts, None)) is not None:
            candidates = await self._run(recognizer.candidates, part.samples)
            transcripts.append((part.start, candidates[0]))
        return joined(transcripts)

    def stream(
        self,
        endpointing: EndpointRules | None = None,
        voice_activity: VoiceActivity | None = None,
        hot_words: Mapping[str, float] | None = None,
    ) -> AsyncStream:
        """Begin an utterance whose audio comes bit by bit, as `Model.stream` does, and raise what it raises."""
        return AsyncStream(self.model.stream(endpointing, voice_activity, hot_words), self._run)

    async def _run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        if self._closed:
            raise ModelError("the AsyncModel is closed; make another one from its model")
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)


class AsyncStream:
    """One utterance whose audio comes bit by bit. A context manager: leaving it ends the stream.

    Calls run one after the other, in order. A call that has begun runs to its end even if its task is cancelled, so the
    stream can go on after a timeout: no samples are fed in part or twice.
    """

    def __init__(self, stream: TranscriptStream, run: Callable[..., Any]) -> None:
        """Take the stream and the awaitable function that runs calls in a thread; `AsyncModel.stream` makes streams."""
        self._stream = stream
        self._run = run
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._in_turn(self._stream.__exit__, *error)

    async def feed(self, samples: Samples) -> None:
        """Take samples, as `Model.stt` does. Raise SamplesError for anything else, ModelError after the end."""
        await self._in_turn(self._stream.feed, samples)

    async def transcript(self) -> Transcript:
        """Return the transcript so far, or raise as `TranscriptStream.transcript` does."""
        return await self._in_turn(lambda: self._stream.transcript)

    async def partial(self) -> Partial:
        """Return the transcript so far, and how many of its words will not change. Raise ModelError after the end."""
        return await self._in_turn(self._stream.partial)

    async def endpoint(self) -> Endpoint | None:
        """Return the end of the utterance, as `TranscriptStream.endpoint` does."""
        return await self._in_turn(self._stream.endpoint)

    async def finish(self) -> Transcript:
        """Return the transcript, and end the stream. Raise ModelError after the end."""
        return await self._in_turn(self._stream.finish)

    async def next_utterance(self) -> AsyncStream:
        """Begin the stream of the next utterance, as `TranscriptStream.next_utterance` does."""
        return AsyncStream(await self._in_turn(self._stream.next_utterance), self._run)

    async def _in_turn(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Run a function after the calls before it are done; calls after it wait until it is done."""
        await self._turn.acquire()
        task: asyncio.Task[Result] = asyncio.ensure_future(self._run(function, *arguments))
        task.add_done_callback(self._next_turn)
        return await asyncio.shield(task)

    def _next_turn(self, task: asyncio.Task[Any]) -> None:
        self._turn.release()
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not report it if the caller was cancelled
