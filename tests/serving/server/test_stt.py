"""`POST /stt`, as the clients of earlier servers of DeepSpeech send it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest
from serving_in_thread import PATIENCE, Served, loaded, serving, until

from deepspeech import Model
from deepspeech.serving.server.options import Limits


@pytest.fixture(scope="module")
def served(graph_file: Path) -> Iterator[Served]:
    with serving(loaded(graph_file), Limits(max_body_megabytes=1)) as server:
        yield server


def posted(served: Served, body: bytes, query: str = "", **headers: str) -> tuple[int, str]:
    """Return the status and the body of the answer."""
    with closing(HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)) as connection:
        connection.request(
            "POST", f"/stt{query}", body, {name.replace("_", "-"): each for name, each in headers.items()}
        )
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_the_body_is_a_recording_and_the_answer_its_text(served: Served, recordings: list[Path], model: Model) -> None:
    body, text = recordings[0].read_bytes(), model.transcribe(recordings[0]).text
    assert text
    assert posted(served, body, Content_Type="application/x-www-form-urlencoded") == (200, f"{text}\n")  # as curl does
    assert posted(served, body, "?model=") == (200, f"{text}\n")
    assert posted(served, body, "?model=scored", Content_Type="audio/wav") == (200, f"{text}\n")


@pytest.mark.parametrize(
    ("status", "code", "body", "query", "headers"),
    [
        (400, "invalid_audio", b"no recording", "", {}),
        (400, "invalid_audio", b"", "", {}),
        (404, "model_not_found", b"RIFF", "?model=other", {}),
        (413, "too_large", bytes((1 << 20) + 1), "", {}),
        (415, "wrong_content_type", b"--x", "", {"Content_Type": "multipart/form-data; boundary=x"}),
        (415, "wrong_content_type", b"--x", "", {"Content_Type": "Multipart/Form-Data; boundary=x"}),
        (415, "wrong_content_encoding", b"RIFF", "", {"Content_Encoding": "gzip"}),
    ],
)
def test_what_cannot_be_transcribed_is_refused_with_a_reason(
    served: Served, status: int, code: str, body: bytes, query: str, headers: dict[str, str]
) -> None:
    answered, text = posted(served, body, query, **headers)
    error = json.loads(text)["error"]
    assert (answered, error["code"]) == (status, code) and error["message"]


def test_a_client_that_leaves_while_it_sends_frees_its_place(served: Served) -> None:
    with closing(HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)) as connection:
        connection.putrequest("POST", "/stt")
        connection.putheader("Content-Length", "1000")
        connection.endheaders(b"RIFF")
        until(lambda: not served.server.service.idle)
    until(lambda: served.server.service.idle)
