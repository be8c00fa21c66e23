"""Malformed and excessive requests and messages: each gets an answer, and the server continues."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import schemathesis
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai import InternalServerError, OpenAI
from schemathesis.specs.openapi.checks import positive_data_acceptance
from server_process import running
from serving_in_thread import (
    JSON,
    JSON_TEXTS,
    PATIENCE,
    Samples,
    Served,
    connected,
    final,
    loaded,
    rest,
    samples_of,
    say,
    serving,
    tell,
    until,
)
from starlette.types import Message
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from deepspeech import Model
from deepspeech.serving.endpointing.recognition import EndpointedRecognition
from deepspeech.serving.server.description import describe
from deepspeech.serving.server.live.connection import LiveConnection
from deepspeech.serving.server.options import Limits, ServerOptions
from deepspeech.serving.server.service import Service

PATIENT = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much]


@pytest.fixture(scope="module")
def served(graph_file: Path) -> Iterator[Served]:
    with serving(loaded(graph_file), Limits(request_seconds=1, max_connections=40)) as server:
        yield server


@pytest.fixture(scope="module")
def spoken(recordings: list[Path]) -> Samples:
    return samples_of(recordings[0])


description = schemathesis.openapi.from_dict(describe(ServerOptions(())))
schema = description.exclude(path="/v1/stream")  # a WebSocket, which the tests below cover


def test_a_client_that_breaks_the_protocol_is_no_failure_of_the_server(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    random = Random(0)
    for _ in range(100):
        with suppress(OSError), connected(served) as connection:
            connection.sendall(random.randbytes(500))
            while connection.recv(1000):
                pass
    until(lambda: served.figure("streams ") == 0)
    assert caplog.messages == []


@schema.parametrize()
@settings(max_examples=20, suppress_health_check=list(HealthCheck), database=None)
def test_every_request_is_answered_as_the_description_says(served: Served, case: Any) -> None:
    # Not every file is a recording, and not every name a model: no schema can say which.
    case.call_and_validate(base_url=served.url, excluded_checks=[positive_data_acceptance])


def test_the_description_names_what_is_served(served: Served) -> None:
    paths = json.loads(served.get("/openapi.json")[2])["paths"]
    status, headers, _ = served.get("/v1/stream")
    assert status == 426 and headers["upgrade"] == "websocket"
    assert served.figure('refused_total{code="upgrade_required"}') > 0
    with pytest.raises(InvalidStatus) as refused, connect(f"ws://127.0.0.1:{served.port}/v1/streams"):
        pass
    told = json.loads(refused.value.response.body)["error"]
    assert refused.value.response.status_code == 404
    assert told["code"] == "unknown_url" and told["message"].endswith("at /v1/streams; connect to /v1/stream")
    for path in paths:
        assert served.get(path.replace("{name}", "tiny"), "DELETE")[0] == 405


TEXTS = st.one_of(
    st.text(max_size=40),
    JSON.map(json.dumps),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["start", "finish", "close", "stop"])},
        optional={
            "hot_words": st.dictionaries(JSON_TEXTS, JSON, max_size=2) | JSON,
            "beam_width": JSON,
            "n_best": JSON,
            "partials": JSON,
        },
    ).map(json.dumps),
)


@given(messages=st.lists(st.one_of(TEXTS, st.binary(max_size=5000)), max_size=6))
@settings(max_examples=60, suppress_health_check=PATIENT, database=None)
def test_whatever_is_sent_a_stream_ends_in_order(served: Served, messages: list[str | bytes]) -> None:
    with served.stream() as stream:
        with suppress(ConnectionClosed):
            for message in messages:
                stream.send(message)
            tell(stream, "close")
        heard = rest(stream)
    assert heard[0]["type"] == "ready"
    finals = [message["utterance"] for message in heard if message["type"] == "final"]
    assert finals == list(range(len(finals)))
    assert all(message["type"] != "error" for message in heard[:-1])
    assert stream.close_code == (1008 if heard[-1]["type"] == "error" else 1000)


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x00" * 100,
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"GET /%ff%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000,
        b"GET /healthz HTTP/1.1\r\nHost: loc",  # and nothing more
    ],
)
def test_bytes_that_are_no_request_end_their_own_connection(served: Served, garbage: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE) as connection:
        connection.sendall(garbage)
        connection.shutdown(socket.SHUT_WR) if garbage.endswith(b"\r\n\r\n") else None
        with suppress(ConnectionResetError):
            while connection.recv(10_000):
                pass
    assert served.get("/healthz")[0] == 200


def test_a_client_of_http_1_0_gets_a_stream_without_chunks(served: Served, recordings: list[Path]) -> None:
    field = '--X\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'
    form = (field.format("model", "tiny") + field.format("stream", "true")).encode()
    form += field.format('file"; filename="a.wav', "").encode()[:-2] + recordings[0].read_bytes() + b"\r\n--X--\r\n"
    head = "POST /v1/audio/transcriptions HTTP/1.0\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=X"
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE) as connection:
        connection.sendall(f"{head}\r\nContent-Length: {len(form)}\r\n\r\n".encode() + form)
        head, _, body = b"".join(iter(lambda: connection.recv(10_000), b"")).decode().partition("\r\n\r\n")
    assert "transfer-encoding" not in head and f"content-length: {len(body)}" in head
    assert [json.loads(event[6:])["type"][-5:] for event in body.split("\n\n")[:-1]] == ["delta", ".done"]


@pytest.mark.parametrize(
    ("charset", "coding", "refusal"),
    [
        ("undefined", "identity", (415, "wrong_content_type")),
        ("punycode", "identity", (415, "wrong_content_type")),
        ("unicode_escape", "identity", (415, "wrong_content_type")),
        ("utf-8", "gzip", (415, "wrong_content_encoding")),
        ("utf-8", "identity", (400, "wrong_form")),
    ],
)
def test_a_form_that_cannot_be_read_is_refused_without_a_line_in_the_log(
    served: Served, charset: str, coding: str, refusal: tuple[int, str], caplog: pytest.LogCaptureFixture
) -> None:
    headers = {"content-type": f"multipart/form-data; boundary=X; charset={charset}", "content-encoding": coding}
    form = b'--X\r\nContent-Disposition: form-data; name="model"\r\n\r\n\\ud800\r\n--X garbage'
    with closing(HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)) as connection:
        connection.request("POST", "/v1/audio/transcriptions", form, headers)
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["error"]["code"]) == refusal
    assert caplog.messages == []


def test_broken_frames_end_their_own_connection(served: Served, spoken: Samples, model: Model) -> None:
    with served.stream() as faithful:
        say(faithful, spoken)
        for frame in (b"\xff" * 20, b"\x82\x00", b"\x81\x82\x00\x00\x00\x00\xff\xfe", b"\x82\xff" + b"\xff" * 8):
            with served.stream() as stream:
                stream.socket.sendall(frame)
                rest(stream)
        tell(faithful, "finish")
        assert final(faithful)["text"] == model.transcribe(spoken).text


def test_what_no_one_foresaw_in_a_live_stream_is_told_logged_and_counted(
    served: Served, spoken: Samples, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **_named: object) -> None:
        raise MemoryError

    before = served.figure('refused_total{code="internal_error"}')
    with monkeypatch.context() as patched:
        patched.setattr(Model, "recognition", broken)
        with pytest.raises(InvalidStatus) as refused, served.stream():
            pass
        assert refused.value.response.status_code == 500
    monkeypatch.setattr(EndpointedRecognition, "feed", broken)
    with served.stream() as stream:
        say(stream, spoken)
        assert rest(stream)[-1]["code"] == "internal_error"
        assert stream.close_code == 1011
    assert served.figure('refused_total{code="internal_error"}') == before + 2
    assert [each.partition(" (")[0] for each in caplog.messages] == ["a live stream failed: MemoryError: "] * 2


def test_a_model_that_computes_no_numbers_is_a_failure_of_the_server_and_not_of_the_client(
    graph_file: Path, recordings: list[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    definition, damaged = tf.compat.v1.GraphDef.FromString(graph_file.read_bytes()), tmp_path / "damaged.pb"
    (weights,) = (node.attr["value"].tensor for node in definition.node if node.name == "layer_6/weights")
    weights.tensor_content = np.full(len(weights.tensor_content) // 4, 3e38, np.float32).tobytes()
    damaged.write_bytes(definition.SerializeToString())
    with serving(loaded(damaged)) as server:
        with server.stream() as stream:
            say(stream, samples_of(recordings[0]))
            assert rest(stream)[-1]["code"] == "internal_error"
        client = OpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=0, timeout=PATIENCE)
        with client, pytest.raises(InternalServerError) as failed:
            client.audio.transcriptions.create(file=recordings[0], model="tiny")
        assert str(tmp_path) not in str(failed.value)
        assert server.figure('refused_total{code="internal_error"}') == 2
    assert len(caplog.messages) == 2 and all("damaged.pb: the network's output" in each for each in caplog.messages)


def test_a_client_that_left_too_much_unread_is_told_so_when_it_reads_on(graph_file: Path) -> None:
    models = loaded(graph_file)
    service = Service(ServerOptions((), limits=Limits(max_unread_messages=3)), models)
    reads_on = asyncio.Event()
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.receive", "text": '{"type": "finish"}'}

    async def send(message: Message) -> None:
        await reads_on.wait()
        sent.append(message)

    async def serve() -> None:
        connection = LiveConnection(service, models.named("tiny"), 16_000, receive, send)
        served = asyncio.ensure_future(connection.serve())
        while b'refused_total{code="slow_reader"}' not in service.metrics.text()[0]:
            await asyncio.sleep(0.01)
        reads_on.set()
        await served

    asyncio.run(serve())
    service.close()
    *_, last, close = sent
    assert json.loads(last["text"])["code"] == "slow_reader"
    assert close == {"type": "websocket.close", "code": 1008}


def test_a_connection_that_is_one_too_many_is_told_when_to_come_back(served: Served) -> None:
    idle = [socket.create_connection(("127.0.0.1", served.port), PATIENCE) for _ in range(40)]
    try:
        until(lambda: len(served.server.server_state.connections) == 40)
        status, headers, body = served.get("/v1/models")
        assert (status, headers["retry-after"]) == (503, "2")
        assert json.loads(body)["error"]["code"] == "server_busy"
        with pytest.raises(InvalidStatus, match="503"), served.stream():
            pass
        idle += [socket.create_connection(("127.0.0.1", served.port), PATIENCE) for _ in range(30)]
        until(lambda: len(served.server.server_state.connections) <= 40)  # connections that send nothing are closed
    finally:
        for connection in idle:
            connection.close()
    until(lambda: len(served.server.server_state.connections) == 0)
    assert served.get("/healthz")[0] == 200
    assert served.figure('refused_total{code="server_busy"}') >= 2


def test_a_server_opens_as_many_files_as_it_may_for_its_connections(graph_file: Path, tmp_path: Path) -> None:
    few = "resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))"
    log, before = tmp_path / "log", f"import resource; {few}"
    with running(f"--model={graph_file}", log=log, before=before) as (_, address), ExitStack() as opened:
        for _ in range(150):
            host = ("127.0.0.1", int(address.rpartition(":")[2]))
            connection = opened.enter_context(socket.create_connection(host, PATIENCE))
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
    assert "out of system resource" not in log.read_text()
