"""Live streams over WebSocket, with real clients."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np
import pytest
import soxr
from serving_in_thread import (
    Samples,
    Served,
    final,
    loaded,
    of_kind,
    rest,
    samples_of,
    say,
    serving,
    tell,
    told,
    until,
    vanishing,
)
from websockets.exceptions import ConnectionClosed, InvalidStatus

from deepspeech import Model
from deepspeech.serving.server.models import Models
from deepspeech.serving.server.options import Limits

SECOND = 16_000


@pytest.fixture(scope="module")
def models(graph_file: Path, scorer_file: Path) -> Models:
    return loaded(graph_file, scorer_file)


@pytest.fixture(scope="module")
def served(models: Models) -> Iterator[Served]:
    with serving(models) as server:
        yield server


@pytest.fixture(scope="module")
def speech(recordings: list[Path]) -> list[Samples]:
    return [samples_of(path) for path in recordings]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_stream_is_told_what_it_says_while_it_says_it(served: Served, speech: list[Samples], model: Model) -> None:
    spoken = max(speech, key=len)
    with served.stream() as stream:
        say(stream, spoken)
        messages = [told(stream), told(stream)]  # before the test asks for the end, so that a partial is sent
        tell(stream, "close")
        messages += rest(stream)
    assert messages[0] == {"type": "ready", "model": "tiny", "rate": 16_000}
    partials, (last,) = of_kind(messages, "partial"), of_kind(messages, "final")
    assert [message["type"] for message in messages] == ["ready", *["partial"] * len(partials), "final"]
    expected = model.transcribe(spoken)
    assert partials and all(partial["end"] <= last["end"] for partial in partials)
    assert last["text"] == expected.text
    assert [word["word"] for word in last["words"]] == expected.text.split()
    assert [(word["start"], word["end"]) for word in last["words"]] == [
        (word.start, word.end) for word in expected.words
    ]
    assert last["utterance"] == 0 and last["reason"] == "finish" and last["start"] == 0
    assert last["end"] == pytest.approx(len(spoken) / SECOND, abs=0.001)
    assert stream.close_code == 1000
    assert served.figure("utterances_total") >= 1 and served.figure("partial_latency_seconds_count") >= 1
    assert 0 < served.figure("real_time_factor") < 5


def test_utterances_follow_one_another_with_times_from_the_start(
    served: Served, speech: list[Samples], model: Model
) -> None:
    with served.stream() as stream:
        begin = 0.0
        for number, spoken in enumerate(speech[:3]):
            say(stream, spoken)
            tell(stream, "finish")
            said = final(stream)
            expected = model.transcribe(spoken)
            assert (said["utterance"], said["text"]) == (number, expected.text)
            assert said["start"] == pytest.approx(begin, abs=0.002)
            assert said["words"][0]["start"] == pytest.approx(begin + expected.words[0].start, abs=0.002)
            begin += len(spoken) / SECOND
        tell(stream, "finish")
        assert final(stream)["text"] == ""


def test_audio_of_another_rate_is_resampled_and_may_be_cut_anywhere(
    served: Served, speech: list[Samples], model: Model
) -> None:
    spoken = speech[0]
    fine = soxr.resample(spoken, SECOND, 44_100).astype("<i2").tobytes()
    with served.stream("rate=44100&model=tiny") as stream:
        for start in range(0, len(fine), 3001):
            stream.send(fine[start : start + 3001])
        tell(stream, "finish")
        said = final(stream)
    assert said["text"] == model.transcribe(spoken).text
    assert said["end"] == pytest.approx(len(spoken) / SECOND, abs=0.002)


def test_a_start_message_says_how_utterances_are_recognized(served: Served, speech: list[Samples]) -> None:
    with served.stream("model=scored") as stream:
        tell(stream, "start", partials=False)
        say(stream, speech[0])
        tell(stream, "finish")
        assert [told(stream)["type"], told(stream)["type"]] == ["ready", "final"]
        say(stream, speech[0])
        tell(stream, "start")
        *_, error = rest(stream)
    assert error["type"] == "error" and "in progress" in error["message"]


def test_a_client_is_told_which_of_its_hot_words_have_no_effect(
    served: Served, speech: list[Samples], model: Model, caplog: pytest.LogCaptureFixture
) -> None:
    unspelled = ["Axe", "grüße", *(f"x{number}" for number in range(100))]
    with served.stream("model=scored") as stream:
        tell(stream, "start", hot_words={"abc": 5.0, **dict.fromkeys(unspelled, 1.0)})
        assert told(stream)["type"] == "ready"
        warning = told(stream)
        assert (warning["type"], warning["code"]) == ("warning", "hot_words_ignored")
        assert "'Axe', 'grüße', 'x0'," in warning["message"] and "'abc'" not in warning["message"]
        assert warning["message"].endswith(" and 82 more") and len(warning["message"]) < 500
        tell(stream, "start", hot_words={"abc": 5.0})
        tell(stream, "close")
        assert rest(stream) == []
    with served.stream("model=tiny") as stream:  # a page whose user has given hot words may choose it
        tell(stream, "start", hot_words={"abc": 5.0}, partials=False)
        say(stream, speech[0])
        tell(stream, "close")
        _, warning, *finals = rest(stream)
        assert warning["code"] == "hot_words_ignored" and "'tiny' has no language model" in warning["message"]
        assert [final["text"] for final in finals] == [model.transcribe(speech[0]).text]
    assert caplog.records == []  # the log is for the operator


def test_a_client_is_told_which_parameters_of_its_query_have_no_effect(served: Served) -> None:
    with served.stream("rate=8000&hotwords=abc&sample_rate=&model=&token=any") as stream:
        ready, warning = told(stream), told(stream)
        assert (ready["rate"], warning["type"], warning["code"]) == (8000, "warning", "query_ignored")
        assert "'hotwords', 'sample_rate'; the message start takes hot_words, beam_width" in warning["message"]
        tell(stream, "close")
        assert rest(stream) == []


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("hello", "bad_message"),
        ("[1]", "bad_message"),
        ('{"type": "begin"}', "bad_message"),
        ('{"type": "start", "n_best": 0}', "bad_message"),
        ('{"type": "start", "n_best": true}', "bad_message"),
        ('{"type": "start", "beam_width": 1000000}', "bad_message"),
        ('{"type": "start", "hot_words": {"a": NaN}}', "bad_message"),
        ('{"type": "start", "hot_words": {"a": 1%s}}' % ("0" * 400), "bad_message"),
        ('{"type": "start", "hot_words": ["a"]}', "bad_message"),
        ('{"type": "start", "spell": 1}', "bad_message"),
        ("[" * 100_000, "bad_message"),
        ("x" * (257 << 10), "message_too_large"),
    ],
)
def test_garbage_ends_its_own_connection_after_a_final_and_an_error(
    served: Served, speech: list[Samples], message: str, code: str
) -> None:
    with served.stream() as stream:
        say(stream, speech[0])
        stream.send(message)
        *_, last, error = rest(stream)
    assert last["type"] == "final" and last["text"]
    assert (error["type"], error["code"]) == ("error", code)
    assert "\n" not in error["message"]
    assert stream.close_code == 1008


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("rate=0", 400, "wrong_rate"),
        ("rate=1e4", 400, "wrong_rate"),
        ("rate=999999", 400, "wrong_rate"),
        ("rate=16000&model=huge", 404, "model_not_found"),
    ],
)
def test_a_wrong_query_is_refused_before_the_connection_is_accepted(
    served: Served, query: str, status: int, code: str
) -> None:
    with pytest.raises(InvalidStatus) as refused, served.stream(query):
        pass
    assert refused.value.response.status_code == status
    assert f'"{code}"'.encode() in refused.value.response.body


def test_too_many_streams_are_told_to_come_back_and_slow_nobody(models: Models, speech: list[Samples]) -> None:
    with serving(models, Limits(max_streams=2)) as server, server.stream() as first, server.stream():
        say(first, speech[0])
        with pytest.raises(InvalidStatus) as refused, server.stream():
            pass
        response = refused.value.response
        assert response.status_code == 503 and int(response.headers["Retry-After"]) > 0
        assert server.figure("streams ") == 2
        first.close()
        until(lambda: server.figure("streams ") == 1)
        with server.stream() as third:
            say(third, speech[0])
            tell(third, "finish")
            assert final(third)["text"]


def test_limits_of_a_stream_end_it_with_a_reason(models: Models, speech: list[Samples]) -> None:
    ended = {}
    with serving(models, Limits(idle_seconds=0.5)) as server, server.stream() as stream:
        ended["idle"] = rest(stream)[-1]
    with serving(models, Limits(max_stream_seconds=3, max_silence_seconds=1, max_message_kilobytes=64)) as server:
        with server.stream() as stream:
            for _ in range(4):
                say(stream, speech[0])
            ended["too_much_audio"] = rest(stream)[-1]
        with server.stream() as stream:
            say(stream, np.zeros(2 * SECOND, np.int16))
            ended["silence"] = rest(stream)[-1]
        with server.stream() as stream:
            for _ in range(13):
                say(stream, np.zeros(SECOND * 8 // 100, np.int16))
                tell(stream, "finish")
            assert rest(stream)[-1] == ended["silence"]
        with server.stream() as stream:
            with suppress(ConnectionClosed):
                stream.send([bytes(33 << 10)] * 400)  # one message in many frames, the rest of which is not read
            ended["message_too_large"] = rest(stream)[-1]
        assert stream.close_code == 1008
    assert {name: message["code"] for name, message in ended.items()} == {name: name for name in ended}


def test_a_client_that_does_not_read_is_cut_off(models: Models, speech: list[Samples]) -> None:
    limits = Limits(slow_reader_seconds=0.5, max_unread_messages=20)
    with serving(models, limits) as server, server.stream(max_queue=1) as stream:
        stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with pytest.raises((ConnectionClosed, OSError)):
            for _ in range(100_000):
                say(stream, speech[0])
                tell(stream, "finish")
        until(lambda: server.figure("streams ") == 0)
        until(lambda: server.server.service.idle)


def test_clients_that_vanish_leave_nothing_behind(served: Served, speech: list[Samples], model: Model) -> None:
    until(lambda: served.figure("streams ") == 0)
    before = open_files()
    with served.stream() as faithful:
        say(faithful, speech[0])
        for number in range(20):
            vanishing(served, speech[number % len(speech)][:4800], reset=bool(number % 2))
        say(faithful, speech[1])
        tell(faithful, "finish")
        assert final(faithful)["text"] == model.transcribe(np.concatenate(speech[:2])).text
    until(lambda: served.figure("streams ") == 0)
    until(lambda: open_files() <= before)


def test_a_server_that_is_stopped_gives_every_open_utterance_its_final(
    models: Models, speech: list[Samples], model: Model
) -> None:
    with serving(models) as server, ExitStack() as connected:
        streams = [connected.enter_context(server.stream()) for _ in range(3)]
        for stream, spoken in zip(streams, speech, strict=False):
            say(stream, spoken)
            assert told(stream)["type"] == "ready"
            assert told(stream)["type"] == "partial"
        server.server.drain()
        for stream, spoken in zip(streams, speech, strict=False):
            *_, last = rest(stream)
            assert last["type"] == "final"
            assert model.transcribe(spoken).text.startswith(last["text"][:3])
            assert stream.close_code == 1001
