"""Keywords of OpenAI's interface, sent by OpenAI's own client, and where its recordings are kept."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import openai
import pytest
from openai import OpenAI
from serving_in_thread import PATIENCE, loaded, serving

from deepspeech import Model
from deepspeech.serving.server.openai.recordings import StoredRecordings


@pytest.fixture
def client(graph_file: Path, scorer_file: Path) -> Iterator[OpenAI]:
    with (
        serving(loaded(graph_file, scorer_file)) as served,
        OpenAI(api_key="none", base_url=f"{served.url}/v1", max_retries=0, timeout=PATIENCE) as made,
    ):
        yield made


def test_keywords_are_hot_words_where_there_is_a_language_model(
    client: OpenAI, recordings: list[Path], graph_file: Path, scorer_file: Path
) -> None:
    recording, model = recordings[0], Model(graph_file)
    plain = model.transcribe(recording).text
    model.enableExternalScorer(scorer_file)
    scored = model.transcribe(recording).text

    def heard_with(word: str) -> str:
        model.set_hot_words({word: 5.0})
        return model.transcribe(recording).text

    words = ("".join(letters) for length in (1, 2, 3) for letters in product("abcde", repeat=length))
    said, hot = next((word, heard) for word in words if (heard := heard_with(word)) != scored)
    keywords = [said, f" {said} ", "über", *(f"not spelled {number}" for number in range(900))]
    create = client.audio.transcriptions.create
    assert create(file=recording, model="scored", keywords=keywords).text == hot
    assert create(file=recording, model="scored").text == scored
    assert create(file=recording, model="tiny", keywords=keywords).text == plain
    for too_much in (["a"] * 1001, ["a" * 101]):
        with pytest.raises(
            openai.BadRequestError, match="1000 words and phrases, each of up to 100 characters"
        ) as refused:
            create(file=recording, model="scored", keywords=too_much)
        assert refused.value.param == "keywords[]"


def test_a_recording_that_is_removed_while_it_is_transcribed_is_no_failure_at_its_end() -> None:
    stored = StoredRecordings()
    with stored.on_disk(io.BytesIO(b"audio"), "speech.wav") as path:
        assert path.read_bytes() == b"audio" and path.suffix == ".wav"
        stored.remove()  # as when the server ends, while a thread still works
        assert not path.exists()
    with stored.on_disk(io.BytesIO(b"audio"), "speech.wav") as path:
        pass
    assert not path.exists()
