"""The Wyoming protocol, tested with its published client."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

pytest.importorskip("wyoming")

from untrained import MODELS, untrained
from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, async_write_event
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming_in_loop import answer, client, run, served, speak, transcript_of

from deepspeech import Model
from deepspeech.cli.server import options_of, parser
from deepspeech.errors import FlagError
from deepspeech.export.frozen_graph import serialized
from deepspeech.options import ExportOptions
from deepspeech.serving.server.models import Models
from deepspeech.serving.server.options import ServedModel, ServerOptions
from deepspeech.serving.server.running import RecognitionServer, listen
from deepspeech.serving.server.wyoming.audio import sixteen_bits

Samples = npt.NDArray[np.int16]


@pytest.fixture(scope="module")
def models(graph_file: Path) -> Models:
    return Models([ServedModel("tiny", graph_file), ServedModel("other", graph_file)])


@pytest.fixture(scope="module")
def samples(recordings: list[Path]) -> Samples:
    read: Samples = soundfile.read(recordings[0], dtype="int16")[0]
    return read


def test_the_published_client_is_told_what_the_model_hears(models: Models, samples: Samples, model: Model) -> None:
    with model.stream() as stream:
        stream.feed(samples)
        expected = stream.finish().text
    assert expected

    async def test() -> None:
        async with served(models) as (service, port), client(port) as satellite:
            await satellite.write_event(Describe().event())
            described = await satellite.read_event()
            assert described is not None
            (program,) = Info.from_event(described).asr
            assert program.supports_transcript_streaming
            assert [(each.name, each.languages) for each in program.models] == [("tiny", ["xx"]), ("other", ["xx"])]
            await satellite.write_event(Ping("here").event())
            pong = await satellite.read_event()
            assert pong is not None
            assert Pong.is_type(pong.type)

            wide = np.stack([samples, samples], axis=1).astype("<i4") << 16
            for audio, width, channels in ((samples.tobytes(), 2, 1), (wide.tobytes(), 4, 2)):
                await satellite.write_event(Transcribe(name="other", language="xx").event())
                await speak(satellite, audio, width=width, channels=channels)
                assert transcript_of(await answer(satellite)) == expected
            await satellite.write_event(AudioStop().event())
            assert transcript_of(await answer(satellite)) == ""
            await speak(satellite, np.repeat(samples, 3).tobytes(), rate=48000)
            assert transcript_of(await answer(satellite))
            assert b"deepspeech_server_streams 0.0" in service.metrics.text()[0]

    run(test)


def test_a_language_leads_to_its_own_model_and_else_to_one_of_another_region(graph_file: Path) -> None:
    tags = ["fil", "en-US", "en_GB", "fi"]
    models = Models([ServedModel(tag, graph_file) for tag in tags])
    for each in models.all:
        each.model._info = replace(each.model._info, language=each.name)

    async def test() -> None:
        async with served(models) as (_, port), client(port) as satellite:
            for asked, chosen in (
                *(("fi", "fi"), ("fi-FI", "fi"), ("fil", "fil"), ("EN-gb", "en_GB"), ("en-us", "en-US")),
                *(("en-AU", "en-US"), ("en", "en-US"), ("de", "fil"), ("", "fil"), (None, "fil")),
            ):
                await satellite.write_event(Transcribe(language=asked).event())
                await speak(satellite, b"")
                assert Transcript.from_event((await answer(satellite))[-2]).language == chosen, asked

    run(test)


def test_a_model_that_needs_whole_recordings_is_not_spoken_to(graph_file: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.pb"
    whole.write_bytes(serialized(untrained(*MODELS["bidirectional"]), ExportOptions()))

    async def test() -> None:
        models = Models([ServedModel("tiny", graph_file), ServedModel("whole", whole)])
        async with served(models) as (_, port), client(port) as satellite:
            await satellite.write_event(Transcribe(name="whole").event())
            told = Error.from_event((await answer(satellite))[-1])
            assert (told.code, told.text) == ("model_cannot_stream", "The model 'whole' needs whole recordings")

    run(test)


def test_limits_hold_for_wyoming_too(models: Models, samples: Samples) -> None:
    async def refused(port: int, *events: Event) -> tuple[str | None, str]:
        async with client(port) as satellite:
            for event in events:
                await satellite.write_event(event)
            while not Error.is_type((told := (await answer(satellite))[-1]).type):
                pass  # the transcript of the audio before
            assert await satellite.read_event() is None
            return Error.from_event(told).code, Error.from_event(told).text

    async def test() -> None:
        audio = samples.tobytes()
        limits = {"max_streams": 1, "max_stream_seconds": 2, "max_message_kilobytes": 256}
        async with served(models, **limits) as (_, port), client(port) as speaking:
            await speaking.write_event(AudioStart(16000, 2, 1).event())
            await speaking.write_event(Ping().event())
            await speaking.read_event()
            start = AudioStart(16000, 2, 1).event()
            assert (await refused(port, start))[0] == "server_busy"
            assert (await refused(port, Transcribe(name="none").event()))[0] == "model_not_found"
            await speaking.write_event(AudioStop().event())
            assert transcript_of(await answer(speaking)) == ""
            for wrong in (AudioStart(100, 2, 1), AudioStart(16000, 9, 1), AudioStart(16000, 2, 0)):
                assert "whole number from" in (await refused(port, wrong.event()))[1]
            assert "whole number of samples" in (await refused(port, AudioChunk(16000, 2, 1, b"abc").event()))[1]
            assert "payload_length" in (await refused(port, AudioChunk(16000, 2, 1, bytes(1 << 19)).event()))[1]
            chunks = [AudioChunk(16000, 2, 1, bytes(64000)).event()] * 2
            assert "at most 2 seconds of audio" in (await refused(port, start, *chunks))[1]
            other = AudioChunk(8000, 2, 1, audio[:2000]).event()
            assert "its rate is 8000" in (await refused(port, start, other))[1]

    run(test)


def test_who_goes_beyond_a_limit_has_the_transcript_of_what_was_said(
    models: Models, samples: Samples, model: Model
) -> None:
    chunk = AudioChunk(16000, 2, 1, samples.tobytes()).event()
    expected = model.transcribe(samples).text

    async def told(port: int, *further: Event) -> list[Event]:
        async with client(port) as satellite:
            for event in (chunk, *further):
                await satellite.write_event(event)
            assert transcript_of(await answer(satellite)) == expected
            return await answer(satellite)

    async def test() -> None:
        silence = AudioChunk(16000, 2, 1, bytes(32_000)).event()
        for limit, further, code in (
            ("max_silence_seconds", [silence] * 9, "silence"),
            ("max_stream_seconds", [AudioChunk(16000, 2, 1, bytes(200_000)).event()], "too_much_audio"),
            ("max_hot_words", [AudioChunk(8000, 2, 1, b"").event()], "bad_event"),
        ):
            async with served(models, **{limit: 5}) as (service, port):
                (error,) = await told(port, *further)
                assert Error.from_event(error).code == code
                assert f'refused_total{{code="{code}"}} 1.0'.encode() in service.metrics.text()[0]
        async with served(models) as (_, port):  # as after too long without an event
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            await async_write_event(chunk, writer)
            writer.write_eof()
            assert expected.encode() in await reader.read()
            writer.close()

    run(test)


def test_a_connection_that_is_one_too_many_is_told_so(models: Models, samples: Samples, model: Model) -> None:
    async def test() -> None:
        async with served(models, max_connections=16) as (_, port), AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(client(port)) for _ in range(16)]
            for each in clients:
                await each.write_event(Ping().event())
                assert await each.read_event() is not None
            async with client(port) as late:
                (told,) = await answer(late)
                assert Error.from_event(told).code == "server_busy"
                assert await late.read_event() is None
            await speak(clients[0], samples.tobytes())
            assert transcript_of(await answer(clients[0])) == model.transcribe(samples).text

    run(test)


def test_a_server_that_is_stopped_tells_what_it_has_heard(models: Models, samples: Samples) -> None:
    async def test() -> None:
        async with served(models) as (_, port):
            satellite = client(port)
            await satellite.connect()
            await satellite.write_event(AudioStart(16000, 2, 1).event())
            await satellite.write_event(AudioChunk(16000, 2, 1, samples.tobytes()).event())
            await satellite.write_event(Ping().event())
            while (event := await satellite.read_event()) is not None and not Pong.is_type(event.type):
                pass
        assert "transcript" in [event.type for event in await answer(satellite)]

    run(test)


def test_it_is_served_beside_http_until_the_server_ends(models: Models, samples: Samples) -> None:
    with listen("127.0.0.1", 0) as http, listen("127.0.0.1", 0, "wyoming_port") as wyoming:
        server = RecognitionServer(ServerOptions(()), models, wyoming=wyoming)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [http]})
        thread.start()

        async def test() -> None:
            async with client(wyoming.getsockname()[1]) as satellite:
                await speak(satellite, samples.tobytes())
                assert transcript_of(await answer(satellite))
                await satellite.write_event(AudioStart(16000, 2, 1).event())
                await satellite.write_event(AudioChunk(16000, 2, 1, samples.tobytes()).event())
                await satellite.write_event(Ping().event())
                while (event := await satellite.read_event()) is not None and not Pong.is_type(event.type):
                    pass
                server.drain()
                assert "transcript" in [event.type for event in await answer(satellite)]

        run(test)
        thread.join(120)
        assert not thread.is_alive()


def test_it_is_only_offered_beyond_this_machine_when_told_so(graph_file: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a secret of enough characters")
    beyond = [f"--model={graph_file}", "--host=0.0.0.0", f"--token_file={token}", "--wyoming_port=10300"]
    with pytest.raises(
        FlagError, match=r"^--wyoming_port=10300: anyone who reaches 0\.0\.0\.0 .* --wyoming_unprotected"
    ):
        options_of(parser().parse_args(beyond))
    assert options_of(parser().parse_args([*beyond, "--wyoming_unprotected"])).wyoming_port == 10300
    with pytest.raises(FlagError, match="--wyoming_port=65536: must be 0 to 65535"):
        options_of(parser().parse_args([f"--model={graph_file}", "--wyoming_port=65536"]))


def test_idle_clients_are_sent_away(models: Models) -> None:
    async def test() -> None:
        async with served(models, idle_seconds=0.1) as (_, port), client(port) as satellite:
            assert await satellite.read_event() is None

    run(test)


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("channels", [1, 2, 3])
def test_audio_of_any_width_becomes_sixteen_bits(width: int, channels: int) -> None:
    wanted = np.array([-128, -1, 0, 1, 127]) << 8
    wide = wanted.astype(np.int64) << 16
    raw = {
        1: ((wanted >> 8) + 128).astype(np.uint8).tobytes,
        2: wanted.astype("<i2").tobytes,
        3: lambda: b"".join(int(value >> 8).to_bytes(3, "little", signed=True) for value in wide),
        4: wide.astype("<i4").tobytes,
    }[width]()
    frames = b"".join(raw[first : first + width] * channels for first in range(0, len(raw), width))
    made = np.frombuffer(sixteen_bits(AudioChunk(16000, width, channels, frames)), "<i2")
    assert made.tolist() == wanted.tolist()
