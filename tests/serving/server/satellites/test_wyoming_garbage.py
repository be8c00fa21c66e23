"""Malformed events over Wyoming get an answer, and a client that does not read does not block other clients."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("wyoming")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving_in_thread import JSON, PATIENCE, until
from wyoming_in_loop import run, served

from deepspeech.serving.server.models import Models
from deepspeech.serving.server.options import ServedModel, ServerOptions
from deepspeech.serving.server.running import RecognitionServer, listen

FIELDS = ("name", "language", "text", "rate", "width", "channels", "timestamp")
AUDIO = {"rate": 16_000, "width": 2, "channels": 1}
KINDS = ("describe", "ping", "transcribe", "audio-start", "audio-chunk", "audio-stop")


@pytest.fixture(scope="module")
def models(graph_file: Path) -> Models:
    return Models([ServedModel("tiny", graph_file)])


async def answer(port: int, sent: bytes) -> bytes:
    """Send only these bytes; return the whole answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    writer.write_eof()
    told = await asyncio.wait_for(reader.read(), 30)
    writer.close()
    return told


def test_what_is_not_in_the_protocol_is_refused(models: Models) -> None:
    garbage = [
        b"GET / HTTP/1.1\r\n\r\n",
        b"[1]\n",
        b"{}\n",
        b'{"type": 1}\n',
        b'{"type": "describe", "data": []}\n' + b'{"type": "audio-stop", "data_length": -1}\n',
        b'{"type": "audio-stop", "data_length": 1e99}\n',
        b'{"type": "audio-stop", "payload_length": 99999999999}\n',
        b'{"type": "audio-stop", "data_length": 3}\nabc',
        b"[" * 100_000 + b"\n",
        b"x" * 200_000,
        b'{"type": "transcribe", "data": {"name": ["x"]}}\n',
        b'{"type": "transcribe", "data": {"language": 1}}\n',
        b'{"type": "ping", "data": {"text": "\\ud800"}}\n',
    ]

    async def test() -> None:
        async with served(models) as (_, port):
            for sent in garbage:
                assert b'{"type": "error"' in await answer(port, sent), sent[:60]

    run(test)


@given(
    kind=st.sampled_from(KINDS),
    data=JSON | st.dictionaries(st.sampled_from(FIELDS), JSON | st.sampled_from([1, 2, 16_000, "tiny"]), max_size=5),
    payload=st.binary(max_size=9),
)
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
def test_whatever_an_event_holds_nothing_fails(models: Models, kind: str, data: object, payload: bytes) -> None:
    header = json.dumps({"type": kind, "data": data, "payload_length": len(payload)})

    async def test() -> None:
        async with served(models) as (service, port):
            await answer(port, header.encode() + b"\n" + payload)
            assert b"internal_error" not in service.metrics.text()[0]

    run(test)


def test_a_client_that_speaks_on_and_reads_late_has_its_transcript_when_the_server_is_stopped(models: Models) -> None:
    told, audio = json.dumps({"type": "audio-chunk", "data": AUDIO, "payload_length": 3200}).encode(), bytes(3200)

    async def test() -> None:
        loop = asyncio.get_running_loop()
        async with served(models) as (service, port):
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.setblocking(False)
                for spoken in range(30):
                    await loop.sock_sendall(client, told + b"\n" + audio)
                    await asyncio.sleep(0.02)
                    if spoken == 10:
                        service.draining.set()
                said = b""
                while piece := await loop.sock_recv(client, 1 << 16):
                    said += piece
        assert b"transcript-stop" in said

    run(test)


def test_a_client_that_does_not_read_does_not_keep_a_server_that_is_stopped_twice(
    models: Models, caplog: pytest.LogCaptureFixture
) -> None:
    ping = json.dumps({"type": "ping", "data": {"text": "x" * 30_000}}).encode() + b"\n"
    with listen("127.0.0.1", 0) as http, listen("127.0.0.1", 0, "wyoming_port") as wyoming:
        server = RecognitionServer(ServerOptions((), drain_secs=2 * PATIENCE), models, wyoming=wyoming)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [http]})
        thread.start()
        until(lambda: server.started)
        with socket.create_connection(wyoming.getsockname(), 1) as client:
            with suppress(TimeoutError):
                while True:
                    client.sendall(ping)
            server.drain()
            server.drain()
            thread.join(PATIENCE)
    assert not thread.is_alive()
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
