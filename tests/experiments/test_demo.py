"""What `make demo` leads to, where it was run in this checkout."""

import csv
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from deepspeech import Model
from deepspeech.serving.endpointing import EndpointRules

PAUSE_SECONDS = 2.0

QUIET = (0.0, 1.0, 10.0)
"""Deviations of a room's noise, in steps of 16 bits."""


def room(seconds: float, rate: int, deviation: float) -> npt.NDArray[np.int16]:
    return np.random.default_rng(3).normal(0, deviation, int(seconds * rate)).astype(np.int16)


@pytest.mark.parametrize("deviation", QUIET)
def test_the_model_hears_nothing_in_silence(demo: Path, deviation: float) -> None:
    model = Model(str(demo / "model/output_graph.pb"))
    assert model.stt(room(10, model.sampleRate(), deviation)) == ""


@pytest.mark.parametrize("deviation", QUIET)
def test_pauses_end_utterances_of_a_stream(demo: Path, deviation: float) -> None:
    model = Model(str(demo / "model/output_graph.pb"))
    pause = room(PAUSE_SECONDS, model.sampleRate(), deviation)
    with (demo / "corpus/test.csv").open(encoding="utf-8") as file:
        recordings = [
            soundfile.read(demo / "corpus" / row["wav_filename"], dtype="int16")[0] for row in csv.DictReader(file)
        ]
    stream = model.stream(endpointing=EndpointRules())
    texts = []
    for recording in recordings[:20]:
        stream.feed(np.concatenate([recording, pause]))
        while stream.endpoint() is not None:
            following = stream.next_utterance()
            texts.append(stream.finish().text)
            stream = following
    assert len([text for text in texts if text]) == 20
