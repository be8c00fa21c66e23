"""The interface for asyncio: the same transcripts, an event loop that is not blocked, and no loss by cancellation."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech import AsyncModel, Model
from deepspeech.errors import ModelError
from deepspeech.serving.arguments.samples import Samples
from deepspeech.serving.endpointing import EndpointRules
from deepspeech.serving.engine import Piece, State
from deepspeech.serving.layers.layer import Array
from deepspeech.serving.long_audio import Part
from deepspeech.serving.transcripts import Partial, Transcript


def test_transcripts_are_those_of_the_model(model: Model, graph_file: Path, recordings: list[Path]) -> None:
    spoken = np.asarray(soundfile.read(recordings[0], dtype="int16")[0])

    async def transcribe() -> None:
        async with await AsyncModel.load(graph_file, threads=2) as other:
            expected = model.transcribe(spoken)
            assert await other.transcribe(recordings[0]) == await other.transcribe(spoken) == expected
            async with other.stream() as stream, other.stream() as second:
                await asyncio.gather(stream.feed(spoken[:4000]), stream.feed(spoken[4000:]), second.feed(spoken))
                assert (await stream.transcript()).text
                assert await stream.finish() == await second.finish() == expected
            with pytest.raises(RuntimeError, match="ended"):
                await stream.feed(spoken)
            with pytest.raises(RuntimeError):
                await other.transcribe("/nope")
        with pytest.raises(ModelError, match="closed; make another one"):
            await other.transcribe(recordings[0])

    asyncio.run(transcribe())


class ChangedMeanwhile(Model):
    """A model whose settings change once the first part of a recording has been read."""

    def parts(self, audio: str | PathLike[str] | Samples) -> Iterator[Part]:
        for part in super().parts(audio):
            yield part
            self.setBeamWidth(1)
            self.disableExternalScorer()


def test_settings_of_a_recording_are_those_of_its_begin(
    graph_file: Path, scorer_file: Path, recordings: list[Path]
) -> None:
    spoken = np.resize(np.concatenate([soundfile.read(each, dtype="int16")[0] for each in recordings]), 50 * 16_000)
    models = Model(graph_file), ChangedMeanwhile(graph_file)
    for each in models:
        each.enableExternalScorer(scorer_file)

    async def transcribe() -> Transcript:
        async with AsyncModel(models[1]) as other:
            return await other.transcribe(spoken)

    assert asyncio.run(transcribe()) == models[0].transcribe(spoken)


def test_utterances_end_by_themselves_as_those_of_the_model(
    graph_file: Path, scorer_file: Path, recordings: list[Path]
) -> None:
    spoken = np.concatenate([np.asarray(soundfile.read(each, dtype="int16")[0]) for each in recordings[:3]])
    rules, hot_words = EndpointRules(longest_utterance=1.0), {"abc": 9.0, "de": -9.0}
    model = Model(graph_file, precision="int8")
    model.enableExternalScorer(scorer_file)

    def utterances(of_stream: Mapping[str, float]) -> tuple[list[Transcript], Partial]:
        heard, stream = [], model.stream(rules, hot_words=of_stream)
        stream.feed(spoken)
        while stream.endpoint() is not None:
            following = stream.next_utterance()
            heard.append(stream.finish())
            stream = following
        return heard, stream.partial()

    async def transcribe() -> tuple[list[Transcript], Partial]:
        async with await AsyncModel.load(graph_file, precision="int8") as other:
            other.model.enableExternalScorer(scorer_file)
            heard, stream = [], other.stream(rules, hot_words=hot_words)
            await stream.feed(spoken)
            while await stream.endpoint() is not None:
                following = await stream.next_utterance()
                heard.append(await stream.finish())
                stream = following
            return heard, await stream.partial()

    expected = utterances(hot_words)
    assert expected != utterances({}) and len(expected[0]) > 1
    assert asyncio.run(transcribe()) == expected


def test_a_cancelled_call_is_carried_out_once_and_the_stream_goes_on(
    model: Model, recordings: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken = np.asarray(soundfile.read(recordings[0], dtype="int16")[0])
    stream_kind = type(model.stream())
    feed, may_feed = stream_kind.feed, threading.Event()

    def held_feed(self: object, samples: object) -> None:
        may_feed.wait()
        feed(self, samples)  # type: ignore[arg-type]

    monkeypatch.setattr(stream_kind, "feed", held_feed)

    async def transcribe() -> None:
        async with AsyncModel(model) as other:
            async with other.stream() as stream:
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(stream.feed(spoken[:4000]), 0.05)
                waiting = asyncio.ensure_future(stream.feed(np.zeros(9000, np.int16)))
                await asyncio.sleep(0)
                waiting.cancel()  # it has not begun
                may_feed.set()
                await stream.feed(spoken[4000:])
                assert await stream.finish() == model.transcribe(spoken)
            async with other.stream() as abandoned:
                may_feed.clear()
                task = asyncio.ensure_future(abandoned.feed(spoken))
                await asyncio.sleep(0.05)
                task.cancel()
                may_feed.set()

    asyncio.run(transcribe())


def test_the_event_loop_goes_on_and_a_long_recording_can_be_cancelled(model: Model, recordings: list[Path]) -> None:
    spoken = np.asarray(soundfile.read(recordings[0], dtype="int16")[0])
    hour = np.tile(spoken, 3600 * 16_000 // len(spoken))

    async def transcribe() -> int:
        ticks = 0
        async with AsyncModel(model) as other:
            task = asyncio.ensure_future(other.transcribe(hour))
            for _ in range(20):
                await asyncio.sleep(0.01)
                ticks += 1
            assert not task.done()
            task.cancel()
        return ticks

    start = time.process_time()
    assert asyncio.run(transcribe()) == 20
    assert time.process_time() - start < 5  # the whole hour takes more


def test_calls_of_many_tasks_are_computed_together(
    graph_file: Path, recordings: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model(graph_file)
    sizes: list[int] = []
    spoken = np.asarray(soundfile.read(recordings[0], dtype="int16")[0])
    expected = model.transcribe(spoken)
    scheduler = model._scheduler
    run_batch = scheduler.engine.run_batch

    def run_when_all_wait(pieces: list[Piece], cores_left: int) -> Sequence[tuple[Array, State]]:
        while not sizes and len(pieces) + len(scheduler._waiting) < 8:
            time.sleep(0.01)
        sizes.append(len(pieces))
        return run_batch(pieces, cores_left)

    monkeypatch.setattr(scheduler.engine, "run_batch", run_when_all_wait)

    async def transcribe() -> None:
        async with AsyncModel(model) as other:
            assert await asyncio.gather(*(other.transcribe(spoken) for _ in range(8))) == [expected] * 8

    asyncio.run(asyncio.wait_for(transcribe(), 60))
    assert max(sizes) >= 4
