"""The protocol of Vosk's server: each message but `config` has one answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soxr
from hypothesis import given
from serving_in_thread import JSON, PATIENCE, Samples, Served, loaded, samples_of, serving, until
from untrained import MODELS, untrained
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from deepspeech import Model
from deepspeech.export.frozen_graph import serialized
from deepspeech.options import ExportOptions
from deepspeech.serving.endpointing import EndpointRules
from deepspeech.serving.server.live.protocol import Alternative, Final, ProtocolError, Word
from deepspeech.serving.server.models import Models
from deepspeech.serving.server.options import Limits, ServedModel
from deepspeech.serving.server.utterances import Utterances
from deepspeech.serving.server.vosk.protocol import Config, EndOfAudio, Reset, command_of, result_answer
from deepspeech.util.text import Alphabet

SECOND = 16_000
END = '{"eof" : 1}'


@pytest.fixture(scope="module")
def models(graph_file: Path, scorer_file: Path) -> Models:
    return loaded(graph_file, scorer_file)


@pytest.fixture(scope="module")
def served(models: Models) -> Iterator[Served]:
    with serving(models) as server:
        yield server


@pytest.fixture(scope="module")
def spoken(recordings: list[Path]) -> Samples:
    return max(map(samples_of, recordings), key=len)


def connected(served: Served, query: str = "") -> AbstractContextManager[ClientConnection]:
    made: AbstractContextManager[ClientConnection]
    made = connect(f"ws://127.0.0.1:{served.port}{query}", open_timeout=PATIENCE, close_timeout=PATIENCE)
    return made


def answer(connection: ClientConnection, message: bytes | str) -> dict[str, Any]:
    """Send a message, and return its answer."""
    connection.send(message)
    answered: dict[str, Any] = json.loads(connection.recv(timeout=PATIENCE))
    return answered


def answers(connection: ClientConnection, samples: Samples, size: int = 4000) -> list[dict[str, Any]]:
    """Send audio in messages of `size` bytes; return their answers."""
    audio = samples.astype("<i2").tobytes()
    return [answer(connection, audio[start : start + size]) for start in range(0, len(audio), size)]


def reason(connection: ClientConnection) -> str:
    """Return the reason with which the server closes a connection because of what its client sent."""
    with pytest.raises(ConnectionClosed) as closed:
        connection.recv(timeout=PATIENCE)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008
    return closed.value.rcvd.reason


def test_each_message_of_audio_is_answered_with_what_was_said_so_far(
    served: Served, spoken: Samples, model: Model
) -> None:
    with connected(served) as connection:
        connection.send('{ "config" : { "sample_rate" : 16000.000000 } }')
        partials = answers(connection, spoken, 640)  # 20 ms
        last = answer(connection, END)
        with pytest.raises(ConnectionClosed):
            connection.recv(timeout=PATIENCE)
    assert all(set(each) == {"partial"} for each in partials) and partials[0]["partial"] == ""
    assert len({each["partial"] for each in partials}) > 1
    expected = model.transcribe(spoken)
    assert last["text"] == expected.text
    assert [(word["word"], word["start"], word["end"]) for word in last["result"]] == [
        (word.text, word.start, word.end) for word in expected.words
    ]
    assert all(0 < word["conf"] <= 1 for word in last["result"])
    assert connection.close_code == 1000


def test_an_utterance_that_ends_in_silence_or_by_reset_is_told_and_the_next_follows(
    served: Served, spoken: Samples, model: Model
) -> None:
    text = model.transcribe(spoken).text
    with connected(served) as connection:
        said = answers(connection, spoken)
        assert answer(connection, '{"reset": 1}')["text"] == text
        said = answers(connection, np.concatenate([spoken, np.zeros(4 * SECOND, np.int16)]))
        (ended,) = [each for each in said if "partial" not in each]
        assert ended["text"]
        assert ended["result"][0]["start"] > len(spoken) / SECOND - 0.1  # from the start of the connection's audio
        assert said[-1] == {"partial": ""}
        assert answer(connection, END) == {"text": ""}


def test_half_a_sample_ends_with_its_utterance(served: Served, spoken: Samples, model: Model) -> None:
    with connected(served) as connection:
        assert answer(connection, b"\1") == {"partial": ""}
        assert answer(connection, '{"reset": 1}') == {"text": ""}
        answers(connection, spoken)
        assert answer(connection, END)["text"] == model.transcribe(spoken).text


def test_audio_in_one_long_message_has_one_answer(served: Served, spoken: Samples) -> None:
    pause = np.zeros(3 * SECOND, np.int16)
    audio = np.concatenate([spoken, pause, spoken, pause])
    with connected(served) as connection:
        parts = [each for each in answers(connection, audio) if "partial" not in each]
    with connected(served) as connection:
        whole = answer(connection, audio.astype("<i2").tobytes())
    assert len(parts) == 2
    assert whole["text"] == " ".join(part["text"] for part in parts)
    assert whole["result"] == [word for part in parts for word in part["result"]]


def test_a_configuration_says_what_is_told(served: Served, spoken: Samples, model: Model) -> None:
    fine = soxr.resample(spoken, SECOND, 44_100)
    asked = {"sample_rate": 44_100, "max_alternatives": 2, "words": False, "model": "scored"}
    with connected(served) as connection:
        connection.send(json.dumps({"config": {**asked, "phrase_list": ["[unk]", "a word", "größe"]}}))
        answers(connection, fine)
        told = answer(connection, END)["alternatives"]
    assert 1 <= len(told) <= 2 and all(set(each) == {"confidence", "text"} for each in told)
    with connected(served, "?model=tiny") as connection:
        answers(connection, spoken)
        assert answer(connection, END)["text"] == model.transcribe(spoken).text


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("now", "must be a JSON object"),
        ("[]", 'with "config", "reset" or "eof"'),
        ('{"config": {"sample_rate": "high"}}', "sample_rate must be a number"),
        ('{"config": {"sample_rate": 100}}', "sample_rate must be from 4000 to 192000 Hz"),
        ('{"config": {"phrase_list": "one"}}', "phrase_list must be a list"),
        ('{"config": {"model": "other"}}', "There is no model 'other'"),
        (b"OggS" + bytes(100), "begins as WebM, Ogg, MP3 or FLAC does"),
    ],
)
def test_a_message_that_cannot_be_used_closes_the_connection_with_a_reason(
    served: Served, message: str | bytes, why: str
) -> None:
    with connected(served) as connection:
        connection.send(message)
        with suppress(ConnectionClosed):
            connection.send(bytes(8000))  # the first audio uses what was configured
        assert why in reason(connection)


@pytest.mark.parametrize("wrong", ["now", bytes((256 << 10) + 1)])
def test_what_was_said_is_told_before_the_connection_is_closed(
    served: Served, spoken: Samples, model: Model, wrong: str | bytes
) -> None:
    with connected(served) as connection:
        answers(connection, spoken)
        assert answer(connection, wrong)["text"] == model.transcribe(spoken).text
        assert reason(connection)


def test_a_connection_takes_the_place_of_a_live_stream(models: Models) -> None:
    with serving(models, Limits(max_streams=1)) as served:
        with connected(served):
            with pytest.raises(InvalidStatus) as refused, connected(served):
                pass
            assert refused.value.response.status_code == 503
        until(lambda: served.figure("streams ") == 0)


def test_an_idle_client_is_told_so(models: Models) -> None:
    with serving(models, Limits(idle_seconds=1)) as served, connected(served) as connection:
        assert reason(connection) == "no message for 1 second"


def test_too_much_audio_and_too_much_silence_end_a_connection(models: Models, spoken: Samples) -> None:
    with serving(models, Limits(max_stream_seconds=6, max_silence_seconds=4)) as served:
        with connected(served) as connection:
            connection.send(np.tile(spoken, 10)[: 7 * SECOND].astype("<i2").tobytes())
            assert reason(connection) == "a connection may have at most 6 seconds of audio"
        with connected(served) as connection:
            assert answer(connection, bytes(10 * SECOND)) == {"partial": ""}
            assert json.loads(connection.recv(timeout=PATIENCE)) == {"text": ""}
            with pytest.raises(ConnectionClosed) as closed:
                connection.recv(timeout=PATIENCE)
            assert closed.value.rcvd is not None and closed.value.rcvd.code == 1000


def test_a_server_that_stops_tells_what_was_said(models: Models, spoken: Samples, model: Model) -> None:
    with serving(models) as served, connected(served) as connection:
        answers(connection, spoken)
        served.loop.call_soon_threadsafe(served.server.drain)
        assert json.loads(connection.recv(timeout=PATIENCE))["text"] == model.transcribe(spoken).text
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=PATIENCE)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1001


def test_a_client_that_sends_without_a_pause_does_not_keep_a_server_from_stopping(models: Models) -> None:
    with serving(models) as served, connected(served) as connection, ThreadPoolExecutor() as threads:

        def speak_on() -> None:
            while True:
                connection.send(bytes(320))

        sending = threads.submit(speak_on)
        said = [connection.recv(timeout=PATIENCE) for _ in range(100)]
        served.loop.call_soon_threadsafe(served.server.drain)
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                said.append(connection.recv(timeout=PATIENCE))
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1001
        assert json.loads(said[-1]) == {"text": ""}
        assert isinstance(sending.exception(), ConnectionClosed)


def test_a_model_that_needs_whole_recordings_is_refused(tmp_path: Path) -> None:
    graph = tmp_path / "output_graph.pb"
    graph.write_bytes(serialized(untrained(*MODELS["bidirectional"]), ExportOptions()))
    with serving(Models([ServedModel("offline", graph)])) as served:
        with pytest.raises(InvalidStatus) as refused, connected(served):
            pass
        assert refused.value.response.status_code == 400


@given(JSON)
def test_any_json_is_a_command_or_is_refused(value: Any) -> None:
    for message in (value, {"config": value}, {"config": {"sample_rate": value, "words": value}}):
        try:
            command = command_of(json.dumps(message), Config(), Limits())
        except ProtocolError:
            continue
        assert isinstance(command, (Config, Reset, EndOfAudio))


def test_a_list_of_phrases_may_hold_a_whole_vocabulary_in_one_phrase() -> None:
    words = [f"word{number}" for number in range(30)]
    for phrases, told in [
        (["oh one", " two ", "[unk]", ""], ["oh one", "two"]),
        ([" ".join(words), "[unk]"], words),
    ]:
        command = command_of(json.dumps({"config": {"phrase_list": phrases}}), Config(), Limits())
        assert isinstance(command, Config) and command.phrases == told
    for refused in ["x" * 101], words:
        with pytest.raises(ProtocolError, match="phrase_list may have at most 10 words and phrases"):
            command_of(json.dumps({"config": {"phrase_list": refused}}), Config(), Limits(max_hot_words=10))


def test_utterances_that_end_in_one_message_are_joined() -> None:
    def final(text: str, confidence: float) -> Final:
        words = [Word(text, 0.0, 0.5, confidence)]
        return Final(0, [Alternative(text, words, confidence), Alternative("other", (), 0.1)], 0.0, 1.0, "silence")

    one, two, empty = final("one", 0.9), final("two", 0.8), Final(1, [Alternative("", (), None)], 1.0, 1.0, "finish")
    word = {"conf": 0.9, "end": 0.5, "start": 0.0, "word": "one"}
    assert json.loads(result_answer([one, empty], Config())) == {"result": [word], "text": "one"}
    assert json.loads(result_answer([one, two], Config(words=False))) == {"text": "one two"}
    chinese = [final("今天", 0.9), final("很好", 0.8)]
    assert json.loads(result_answer(chinese, Config(words=False))) == {"text": "今天很好"}
    several = Config(words=False, alternatives=5)
    assert json.loads(result_answer([one, two], several)) == {"alternatives": [{"confidence": 0.8, "text": "one two"}]}
    assert [each["text"] for each in json.loads(result_answer([one], several))["alternatives"]] == ["one", "other"]
    assert json.loads(result_answer([], Config())) == {"text": ""}
    assert '"text" : ' in result_answer([one], Config())  # as Vosk writes it


def test_utterances_of_a_model_without_a_space_are_joined_without_one(tmp_path: Path) -> None:
    graph = tmp_path / "output_graph.pb"
    graph.write_bytes(serialized(untrained(*MODELS["lstm"], Alphabet(tuple("abcde"))), ExportOptions()))
    utterances = Utterances(Model(graph), 16_000, EndpointRules(longest_utterance=0.5))
    noise = np.random.default_rng(3).normal(0, 3000, 32_000).astype("<i2").tobytes()
    finals = [event for event in utterances.hear(noise) if isinstance(event, Final)]
    texts = [final.transcripts[0].text for final in finals]
    assert len(texts) > 1
    assert json.loads(result_answer(finals, Config(words=False))) == {"text": "".join(texts)}
