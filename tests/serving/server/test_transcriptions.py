"""OpenAI's interface, tested with OpenAI's own client, unmodified."""

from __future__ import annotations

import io
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
import soundfile
from openai import OpenAI
from serving_in_thread import PATIENCE, Served, loaded, samples_of, serving, until
from starlette.datastructures import UploadFile

from deepspeech import Model
from deepspeech.serving.server.models import Models
from deepspeech.serving.server.openai.form import TranscriptionRequest
from deepspeech.serving.server.openai.rendering import rendered
from deepspeech.serving.server.options import Limits
from deepspeech.serving.subtitles import cues, srt, webvtt
from deepspeech.serving.transcripts import Transcript


@pytest.fixture(scope="module")
def models(graph_file: Path, scorer_file: Path) -> Models:
    return loaded(graph_file, scorer_file)


@pytest.fixture(scope="module")
def served(models: Models) -> Iterator[Served]:
    limits = Limits(max_body_megabytes=2, max_file_seconds=100, max_transcriptions=1, max_waiting=0)
    with serving(models, limits) as server:
        yield server


@pytest.fixture
def client(served: Served) -> Iterator[OpenAI]:
    with OpenAI(api_key="none", base_url=f"{served.url}/v1", max_retries=0, timeout=PATIENCE) as made:
        yield made


@pytest.fixture(scope="module")
def recording(recordings: list[Path]) -> Path:
    return max(recordings, key=lambda path: path.stat().st_size)


def long_recording(recording: Path, seconds: int) -> io.BytesIO:
    """Return a file that repeats a recording with pauses."""
    spoken = np.concatenate([samples_of(recording), np.zeros(8000, np.int16)])
    made = io.BytesIO()
    made.name = "long.flac"
    soundfile.write(made, np.tile(spoken, seconds * 16_000 // len(spoken)), 16_000, format="FLAC")
    made.seek(0)
    return made


def test_models_are_listed_and_told_by_name(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["tiny", "scored"]
    assert client.models.retrieve("scored").object == "model"
    with pytest.raises(openai.NotFoundError) as unknown:
        client.models.retrieve("whisper-1")
    assert unknown.value.code == "model_not_found"


def test_a_recording_is_transcribed_in_every_format(client: OpenAI, recording: Path, model: Model) -> None:
    expected = model.transcribe(recording)
    create = client.audio.transcriptions.create
    assert create(file=recording, model="tiny").text == expected.text
    assert create(file=recording, model="tiny", response_format="text") == f"{expected.text}\n"
    assert create(file=recording, model="tiny", response_format="srt") == srt(cues(expected.words))
    assert create(file=recording, model="tiny", response_format="vtt") == webvtt(cues(expected.words))
    verbose = create(
        file=recording,
        model="tiny",
        response_format="verbose_json",
        timestamp_granularities=["word", "segment"],
        language="en",
        prompt="tones",
        temperature=0.2,
    )
    assert verbose.text == expected.text and verbose.language == "xx"  # the model's
    assert verbose.duration == pytest.approx(soundfile.info(recording).duration, abs=0.001)
    assert verbose.words is not None and verbose.segments is not None
    assert [(word.word, word.start, word.end) for word in verbose.words] == [
        (word.text, word.start, word.end) for word in expected.words
    ]
    assert " ".join(segment.text for segment in verbose.segments) == expected.text
    plain = create(file=recording, model="scored", response_format="verbose_json")
    assert plain.segments and plain.words is None


@pytest.mark.parametrize(
    ("of_the_model", "asked", "told"),
    [("en-US", "de", "en-US"), ("en-US", None, "en-US"), ("", "de", "de"), ("", None, "")],
)
def test_the_language_that_is_told_is_the_models_if_it_tells_one(
    of_the_model: str, asked: str | None, told: str
) -> None:
    request = TranscriptionRequest(UploadFile(io.BytesIO()), "tiny", "verbose_json", asked)
    answer = rendered(Transcript("", (), 0.0), 1.0, of_the_model, request)
    assert json.loads(bytes(answer.body))["language"] == told


def test_a_transcript_is_streamed_part_by_part(client: OpenAI, recording: Path, model: Model, tmp_path: Path) -> None:
    long = long_recording(recording, 70)
    (tmp_path / "long.flac").write_bytes(long.getvalue())
    *deltas, done = client.audio.transcriptions.create(file=long, model="tiny", stream=True)
    assert len(deltas) > 1 and done.type == "transcript.text.done"
    texts = [event.delta for event in deltas if event.type == "transcript.text.delta"]
    assert "".join(texts) == done.text
    assert done.text.split() == model.transcribe(tmp_path / "long.flac").text.split()


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"file": b"no recording at all"}, "file"),
        ({"file": b""}, "file"),
        ({"response_format": "html"}, "response_format"),
        ({"stream": True, "response_format": "srt"}, "stream"),
        ({"temperature": 7}, "temperature"),
        ({"timestamp_granularities": ["word"]}, "timestamp_granularities[]"),
        ({"model": ""}, "model"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(
    client: OpenAI, recording: Path, changes: dict[str, object], param: str
) -> None:
    request: dict[str, object] = {"file": recording, "model": "tiny", **changes}
    with pytest.raises(openai.BadRequestError) as refused:
        client.audio.transcriptions.create(**request)  # type: ignore[call-overload]
    assert refused.value.type == "invalid_request_error"
    assert refused.value.param == param
    assert changes.get("model") is None or "; /v1/models lists them" in refused.value.message
    assert refused.value.code == "invalid_audio" or refused.value.message.partition(" - ")[2].startswith(f"{param}: ")
    assert "/tmp" not in refused.value.message and "\n" not in refused.value.message


def test_a_client_is_told_what_a_server_without_ffmpeg_takes(
    client: OpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(openai.BadRequestError) as refused:
        client.audio.transcriptions.create(file=("a.m4a", b"\0\0\0\x1cftypM4A " + bytes(100)), model="tiny")
    assert "This server cannot decode MP4; send the recording as WAV, FLAC, Ogg or MP3" in refused.value.message
    assert "install" not in refused.value.message


def test_unknown_models_large_bodies_and_long_recordings_are_refused(
    client: OpenAI, served: Served, recording: Path
) -> None:
    create = client.audio.transcriptions.create
    with pytest.raises(openai.NotFoundError) as unknown:
        create(file=recording, model="whisper-1")
    assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
    for body in (bytes(3 << 20), io.BytesIO(bytes(3 << 20))):
        with pytest.raises(openai.APIStatusError) as large:
            create(file=body, model="tiny")
        assert large.value.status_code == 413
    recognized = served.figure("audio_seconds_total")
    with pytest.raises(openai.APIStatusError) as long:
        create(file=long_recording(recording, 110), model="tiny")
    assert (long.value.status_code, long.value.code) == (413, "audio_too_long")
    assert served.figure("audio_seconds_total") == recognized
    until(lambda: served.server.service.idle)


def test_bodies_that_are_no_form_are_refused(served: Served) -> None:
    for kind, status in (("application/json", 415), ("multipart/form-data", 400), ("", 415)):
        answer = served.get("/v1/audio/transcriptions", "POST", content_type=kind)
        assert answer[0] == status and json.loads(answer[2])["error"]["type"] == "invalid_request_error"
    status, headers, text = served.get("/v1/audio/transcriptions")
    assert status == 405 and headers["allow"] and json.loads(text)["error"]["code"] == "method_not_allowed"
    assert json.loads(served.get("/v1/nothing")[2])["error"]["code"] == "unknown_url"


def test_an_endless_header_in_a_form_is_refused_as_soon_as_it_is_long(served: Served) -> None:
    """To keep such a header, one would copy all of it with each piece that arrives."""
    form = (
        b'--X\r\nContent-Disposition: form-data; name="model"\r\nA: ' + b"a" * (1 << 20) + b"\r\n\r\ntiny\r\n--X--\r\n"
    )
    with closing(HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)) as connection:
        kind = {"content-type": "multipart/form-data; boundary=X"}
        connection.request("POST", "/v1/audio/transcriptions", form, kind)
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["error"]["code"]) == (400, "wrong_form")


def test_a_form_that_was_cut_short_is_refused_as_such(served: Served, recording: Path) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="model"\r\n\r\ntiny\r\n'
    head += b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
    whole = head + recording.read_bytes() + b"\r\n--x--\r\n"
    for length, status in ((len(whole), 200), (len(whole) // 2, 400), (len(whole) - 10, 400)):
        connection = HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
        kind = {"content-type": "multipart/form-data; boundary=x"}
        connection.request("POST", "/v1/audio/transcriptions", whole[:length], kind)
        answer = connection.getresponse()
        assert answer.status == status
        assert status == 200 or "it ends before its last boundary" in answer.read().decode()
        connection.close()


def test_a_client_that_goes_away_stops_its_work(
    served: Served, client: OpenAI, recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    counted = served.figure("transcription_seconds_count")
    head = b'--x\r\nContent-Disposition: form-data; name="model"\r\n\r\ntiny\r\n'
    head += b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.flac"\r\n\r\n'
    sent = head + long_recording(recording, 90).read() + b"\r\n--x--\r\n"
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE) as gone:
        gone.sendall(b"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\n")
        gone.sendall(b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: %d\r\n\r\n" % len(sent))
        gone.sendall(sent)
        until(lambda: not served.server.service.idle)
    until(lambda: served.server.service.idle)
    assert not list(tmp_path.iterdir())
    assert client.audio.transcriptions.create(file=recording, model="tiny").text
    assert served.figure("transcription_seconds_count") == counted + 1


@pytest.mark.parametrize("seconds", [1, 60], ids=["held in memory", "stored while it arrives"])
def test_a_temporary_folder_that_takes_nothing_is_told_and_logged(
    seconds: int,
    served: Served,
    client: OpenAI,
    recording: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    gone = tmp_path / "gone"
    monkeypatch.setattr("tempfile.tempdir", str(gone))
    wav = io.BytesIO()
    soundfile.write(wav, np.random.default_rng(1).uniform(-1, 1, seconds * 16_000), 16_000, format="WAV")
    refused_before = served.figure('refused_total{code="no_storage"}')
    with pytest.raises(openai.InternalServerError) as full:
        client.audio.transcriptions.create(file=("a.wav", wav.getvalue()), model="tiny")
    assert (full.value.status_code, full.value.code) == (507, "no_storage")
    assert str(gone) not in full.value.message
    (record,) = caplog.records
    assert str(gone) in record.getMessage() and "No such file or directory" in record.getMessage()
    assert served.figure('refused_total{code="no_storage"}') == refused_before + 1
    monkeypatch.undo()
    assert client.audio.transcriptions.create(file=recording, model="tiny").text


def test_what_no_one_foresaw_is_one_line_of_the_log(
    models: Models, recording: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: Model) -> int:
        raise KeyError("rate\nof nothing")

    with (
        serving(models) as server,
        OpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=0, timeout=PATIENCE) as client,
    ):
        monkeypatch.setattr(Model, "sampleRate", broken)
        with pytest.raises(openai.InternalServerError) as failed:
            client.audio.transcriptions.create(file=recording, model="tiny")
        assert (failed.value.status_code, failed.value.code) == (500, "internal_error")
        assert server.figure('refused_total{code="internal_error"}') == 1
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("deepspeech")]
    (line,) = lines
    assert line.startswith("POST /v1/audio/transcriptions failed: KeyError: ") and "\n" not in line
    assert "test_transcriptions.py:" in line


def test_what_fails_in_the_middle_of_a_streamed_transcript_is_its_last_event(
    served: Served, client: OpenAI, recording: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun = Model.recognition
    calls = count(1)

    def broken_later(model: Model, **named: Any) -> Any:
        if next(calls) == 2:
            raise MemoryError
        return begun(model, **named)

    monkeypatch.setattr(Model, "recognition", broken_later)
    before = served.figure('refused_total{code="internal_error"}')
    events = client.audio.transcriptions.create(file=long_recording(recording, 70), model="tiny", stream=True)
    assert next(events).type == "transcript.text.delta"
    with pytest.raises(openai.APIError, match="its log says why"):
        next(events)
    assert served.figure('refused_total{code="internal_error"}') == before + 1
    assert [each for each in caplog.messages if each.startswith("a streamed transcription failed: MemoryError")]
