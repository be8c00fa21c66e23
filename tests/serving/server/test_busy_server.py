"""Requests while a server is busy or stops: late live audio, recordings that wait, and those that arrive slowly."""

from __future__ import annotations

import asyncio
import io
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import openai
import pytest
import soundfile
from openai import OpenAI
from server_process import running, waited_for
from serving_in_thread import PATIENCE, Samples, Served, final, loaded, samples_of, say, serving, tell, until
from starlette.types import Message
from websockets.exceptions import InvalidStatus

from deepspeech.serving.server import service
from deepspeech.serving.server.live.connection import LiveConnection
from deepspeech.serving.server.models import Models
from deepspeech.serving.server.options import LARGEST_LIMIT, Limits, ServerOptions

ONE_PLACE = Limits(max_body_megabytes=1, max_transcriptions=1, max_waiting=0)


@pytest.fixture(scope="module")
def models(graph_file: Path, scorer_file: Path) -> Models:
    return loaded(graph_file, scorer_file)


@pytest.fixture(scope="module")
def speech(recordings: list[Path]) -> list[Samples]:
    return [samples_of(path) for path in recordings]


class Clock:
    """A clock that advances only when a test asks for it, however busy the machine is."""

    def __init__(self) -> None:
        self.now = 0.0

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock with which the server measures its delay."""
    made = Clock()
    monkeypatch.setattr(service, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


@contextmanager
def client_of(served: Served) -> Iterator[OpenAI]:
    with OpenAI(api_key="none", base_url=f"{served.url}/v1", max_retries=0, timeout=PATIENCE) as client:
        yield client


@contextmanager
def beginning_of_an_upload(served: Served, audio: bytes) -> Iterator[None]:
    """Send a request up to the middle of its recording, and wait within the context."""
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE) as connection:
        connection.sendall(b"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\n")
        connection.sendall(b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1048576\r\n\r\n")
        connection.sendall(head + audio)
        yield


def be_late(served: Served, clock: Clock) -> None:
    """Let the server take half a second to recognize a tenth of a second of live audio."""
    recognition = served.server.service.recognize(lambda: clock.pass_by(0.5), 0.1)
    asyncio.run_coroutine_threadsafe(recognition, served.loop).result()


def test_nobody_else_is_let_in_while_live_audio_is_late(models: Models, speech: list[Samples], clock: Clock) -> None:
    with serving(models, Limits(busy_seconds=0.01)) as server, server.stream() as stream:
        say(stream, speech[0])
        tell(stream, "finish")
        assert final(stream)["text"]
        be_late(server, clock)
        with pytest.raises(InvalidStatus) as refused, server.stream():
            pass
        assert refused.value.response.status_code == 503
        say(stream, speech[0])
        tell(stream, "finish")
        assert final(stream)["text"]


def test_audio_that_was_late_before_a_pause_keeps_nobody_out_after_it(
    models: Models, speech: list[Samples], clock: Clock
) -> None:
    with serving(models, Limits(busy_seconds=0.02)) as server:
        be_late(server, clock)
        assert server.figure("queue_seconds") > 0.02
        clock.pass_by(service.FORGOTTEN_AFTER)
        assert server.figure("queue_seconds") == 0
        with server.stream() as first:
            say(first, speech[0][:1600])
            tell(first, "finish")
            assert final(first)["type"] == "final"
            with server.stream() as second:
                assert second.recv(timeout=PATIENCE)


def test_a_final_is_as_late_as_its_audio_was(models: Models) -> None:
    of_one_thread = service.Service(ServerOptions((), threads=1), models)
    messages: list[Message] = [{"bytes": bytes(3 * 32_000)}, {"text": '{"type": "finish"}'}]
    said, told, others_are_done = asyncio.Event(), asyncio.Event(), threading.Event()

    async def receive() -> Message:
        if not messages:
            said.set()
            await asyncio.sleep(PATIENCE)
        return {"type": "websocket.receive", **messages.pop(0)}

    async def send(message: Message) -> None:
        if '"final"' in message["text"]:
            told.set()

    async def serve() -> None:
        others = asyncio.ensure_future(of_one_thread.of_stream(others_are_done.wait))
        connection = LiveConnection(of_one_thread, models.named("tiny"), 16_000, receive, send)
        served = asyncio.ensure_future(connection.serve())
        await said.wait()
        await asyncio.sleep(0.3)
        others_are_done.set()
        await told.wait()
        served.cancel()
        await asyncio.gather(served, others, return_exceptions=True)

    asyncio.run(serve())
    of_one_thread.close()
    latency = re.search(rb"final_latency_seconds_sum (\S+)", of_one_thread.metrics.text()[0])
    assert latency and float(latency[1]) > 0.3


def test_what_arrives_while_the_process_stands_still_is_read_before_the_client_counts_as_idle(models: Models) -> None:
    stopped = service.Service(ServerOptions((), limits=Limits(idle_seconds=0.1), threads=1), models)
    sent: list[Message] = []

    async def receive() -> Message:
        time.sleep(0.2)  # as of a paused container: when it goes on, the time is up before anything is read
        for _ in range(5):
            await asyncio.sleep(0)
        return {"type": "websocket.receive", "text": '{"type": "close"}'}

    async def send(message: Message) -> None:
        sent.append(message)

    async def serve() -> None:
        await LiveConnection(stopped, models.named("tiny"), 16_000, receive, send).serve()
        assert await stopped.arriving(receive) is not None

    asyncio.run(serve())
    stopped.close()
    assert sent[-1] == {"type": "websocket.close", "code": 1000}


def test_recordings_are_transcribed_while_others_arrive(models: Models, recordings: list[Path]) -> None:
    with (
        serving(models, Limits(max_transcriptions=2, max_waiting=8)) as server,
        client_of(server) as client,
        ThreadPoolExecutor(8) as asking,
    ):
        create = client.audio.transcriptions.create
        asked = [asking.submit(create, file=recordings[0], model="tiny") for _ in range(8)]
        texts = {each.result(PATIENCE).text for each in asked}
    assert texts == {models.named("tiny").model.transcribe(recordings[0]).text}


def test_a_full_server_says_when_to_come_back(models: Models, recordings: list[Path]) -> None:
    with serving(models, ONE_PLACE) as server, client_of(server) as client:
        place = server.server.service.transcription()
        server.loop.call_soon_threadsafe(place.__enter__)
        until(lambda: server.figure("transcriptions ") == 1)
        with pytest.raises(openai.InternalServerError) as full:
            client.audio.transcriptions.create(file=recordings[0], model="tiny")
        assert (full.value.status_code, full.value.code) == (503, "server_busy")
        assert int(full.value.response.headers["retry-after"]) > 0
        server.loop.call_soon_threadsafe(place.__exit__, None, None, None)
        until(lambda: server.figure("transcriptions ") == 0)
        assert client.audio.transcriptions.create(file=recordings[0], model="tiny").text


def test_recordings_that_arrive_slowly_take_no_places(models: Models, recordings: list[Path]) -> None:
    with serving(models, ONE_PLACE) as server, client_of(server) as client:
        with ExitStack() as slow:
            for _ in range(3):
                slow.enter_context(beginning_of_an_upload(server, bytes(1000)))
            until(lambda: server.figure("upload_bytes") > 3000)
            assert server.figure("transcriptions") == 0
            assert client.audio.transcriptions.create(file=recordings[0], model="tiny").text
        until(lambda: server.server.service.idle)
        assert server.figure("upload_bytes") == 0


def test_recordings_that_arrive_are_stored_up_to_the_size_of_all_places(models: Models, recordings: list[Path]) -> None:
    with serving(models, ONE_PLACE) as server, client_of(server) as client:
        create = client.audio.transcriptions.create
        with beginning_of_an_upload(server, bytes(1_000_000)):
            until(lambda: server.figure("upload_bytes") > 1_000_000)
            with pytest.raises(openai.InternalServerError, match="Too many recordings are arriving"):
                create(file=("a.wav", bytes(100_000)), model="tiny")
        until(lambda: server.server.service.idle)
        assert create(file=recordings[0], model="tiny").text


def test_recordings_that_are_not_transcribed_when_the_server_ends_are_refused_as_all_others(
    models: Models, speech: list[Samples]
) -> None:
    file = io.BytesIO()
    soundfile.write(file, np.resize(np.concatenate(speech), 1000 * 16_000), 16_000, format="FLAC")
    limits = Limits(max_transcriptions=1)
    with (
        serving(models, limits, drain_secs=0.1) as server,
        client_of(server) as client,
        ThreadPoolExecutor(1) as waiting,
    ):
        create = client.audio.transcriptions.create
        events = create(file=("a.flac", file.getvalue()), model="tiny", stream=True)
        assert next(events).type == "transcript.text.delta"
        second = waiting.submit(create, file=("a.flac", file.getvalue()), model="tiny")
        until(lambda: server.figure("transcriptions_waiting") == 1)
        server.server.drain()
        refused = second.exception(PATIENCE)
        assert isinstance(refused, openai.InternalServerError)
        assert (refused.status_code, refused.code) == (503, "server_busy")
        assert "being stopped" in refused.message and "retry-after" in refused.response.headers
        with pytest.raises(openai.APIError, match="being stopped"):
            list(events)


def test_a_recording_for_whose_transcription_there_is_no_time_is_not_left_behind(
    graph_file: Path, recordings: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, log = tmp_path / "stored", tmp_path / "log"
    stored.mkdir()
    monkeypatch.setenv("TMPDIR", str(stored))
    before = """
import sys, time
from deepspeech.serving.recognition import Recognition
Recognition.feed = lambda *_: print("heard", file=sys.stderr, flush=True) or time.sleep(600)
"""
    with (
        running(f"--model={graph_file}", "--drain_secs=0.1", log=log, before=before) as (process, address),
        OpenAI(api_key="none", base_url=f"{address}/v1", max_retries=0, timeout=PATIENCE) as client,
        ThreadPoolExecutor(1) as waiting,
    ):
        refused = waiting.submit(client.audio.transcriptions.create, file=recordings[0], model="deepspeech")
        waited_for(log, "(heard)")
        assert list(stored.iterdir())
        process.send_signal(signal.SIGTERM)
        assert isinstance(refused.exception(PATIENCE), openai.APIError)
        assert process.wait(PATIENCE) == 0
    assert not list(stored.iterdir())


def test_limits_that_are_as_good_as_none_let_everybody_in(
    models: Models, recordings: list[Path], speech: list[Samples]
) -> None:
    none = Limits(**{each.name: LARGEST_LIMIT for each in fields(Limits)})
    with serving(models, none) as served:
        with served.stream() as stream:
            say(stream, speech[0])
            tell(stream, "close")
            assert final(stream)["text"] == models.named("tiny").model.transcribe(speech[0]).text
        with client_of(served) as client:
            assert client.audio.transcriptions.create(file=recordings[0], model="tiny").text


def test_no_more_connections_are_accepted_than_the_process_may_open_files_for(graph_file: Path, tmp_path: Path) -> None:
    few, log = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))", tmp_path / "log"
    with running(f"--model={graph_file}", log=log, before=few) as (_, address), ExitStack() as clients:
        told = "--max_connections=512: only 32 are accepted, as the system limits open files (see `ulimit -n`)"
        assert log.read_text().splitlines()[0] == f"deepspeech-server: {told}"
        port = int(address.rpartition(":")[2])
        for _ in range(32):
            clients.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as refused:
            refused.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert refused.recv(1000).startswith(b"HTTP/1.1 503 ")
