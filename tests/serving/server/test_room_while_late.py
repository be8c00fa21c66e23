"""Who is let in while live audio is recognized late, and once that is over."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from serving_in_thread import Samples, Served, final, loaded, samples_of, say, serving, tell
from websockets.exceptions import InvalidStatus

from deepspeech.serving.server import service
from deepspeech.serving.server.models import Models
from deepspeech.serving.server.options import Limits


@pytest.fixture(scope="module")
def models(graph_file: Path, scorer_file: Path) -> Models:
    return loaded(graph_file, scorer_file)


@pytest.fixture(scope="module")
def speech(recordings: list[Path]) -> list[Samples]:
    return [samples_of(path) for path in recordings]


def be_late(served: Served) -> None:
    """Have the server take half a second for a tenth of a second of live audio."""
    recognition = served.server.service.recognize(lambda: time.sleep(0.5), 0.1)
    asyncio.run_coroutine_threadsafe(recognition, served.loop).result()


def test_nobody_else_is_let_in_while_live_audio_is_late(models: Models, speech: list[Samples]) -> None:
    with serving(models, Limits(busy_seconds=0.01)) as server, server.stream() as stream:
        say(stream, speech[0])
        tell(stream, "finish")
        assert final(stream)["text"]
        be_late(server)
        with pytest.raises(InvalidStatus) as refused, server.stream():
            pass
        assert refused.value.response.status_code == 503
        say(stream, speech[0])
        tell(stream, "finish")
        assert final(stream)["text"]


def test_audio_that_was_late_before_a_pause_keeps_nobody_out_after_it(
    models: Models, speech: list[Samples], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "FORGOTTEN_AFTER", 0.2)
    with serving(models, Limits(busy_seconds=0.02)) as server:
        be_late(server)
        assert server.figure("queue_seconds") > 0.02
        time.sleep(0.3)
        assert server.figure("queue_seconds") == 0
        with server.stream() as first:
            say(first, speech[0][:1600])
            tell(first, "finish")
            assert final(first)["type"] == "final"
            with server.stream() as second:
                assert second.recv(timeout=10)
