"""Errors of a model are RuntimeErrors, as DeepSpeech's package promised, with messages of one line."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_files import definition_of, edited, repeated, write

import deepspeech
from deepspeech import AsyncModel, Model
from deepspeech.errors import AudioError, DeepSpeechError, GraphError, ModelError
from deepspeech.serving.endpointing import EndpointRules

NO_SAMPLES = np.zeros(0, np.int16)
WRONG: list[Callable[[Model], Any]] = [
    lambda _: Model(3),  # type: ignore[arg-type]
    lambda _: Model(None),  # type: ignore[arg-type]
    lambda _: Model("/nope"),
    lambda model: model.transcribe("/nope"),
    lambda model: model.transcribe("nul\0"),
    lambda model: model.transcribe(3),  # type: ignore[arg-type]
    lambda model: model.transcribe(None),  # type: ignore[arg-type]
    lambda model: model.transcribe(__file__),
    lambda model: model.stt("text"),  # type: ignore[arg-type]
    lambda model: model.stt(None),  # type: ignore[arg-type]
    lambda model: model.stt(np.zeros((2, 2), np.int16)),
    lambda model: model.stt(np.zeros(9, np.float32)),
    lambda model: model.sttWithMetadata(NO_SAMPLES, 0),
    lambda model: model.sttWithMetadata(NO_SAMPLES, "2"),  # type: ignore[arg-type]
    lambda model: model.sttWithMetadata(NO_SAMPLES, 1 << 70),
    lambda model: model.createStream().finishStreamWithMetadata(None),  # type: ignore[arg-type]
    lambda model: model.createStream().intermediateDecodeWithMetadata(1.5),  # type: ignore[arg-type]
    lambda model: model.createStream().feedAudioContent({}),  # type: ignore[arg-type]
    lambda model: model.setBeamWidth("5"),  # type: ignore[arg-type]
    lambda model: model.setBeamWidth(1.5),  # type: ignore[arg-type]
    lambda model: model.setBeamWidth(0),
    lambda model: model.setBeamWidth(1 << 40),
    lambda model: model.enableExternalScorer(3),  # type: ignore[arg-type]
    lambda model: model.enableExternalScorer("/nope"),
    lambda model: model.addHotWord("a", 1),
    lambda model: model.stream(endpointing=True),  # type: ignore[arg-type]
    lambda model: model.stream(EndpointRules(), voice_activity=True),  # type: ignore[arg-type]
    lambda _: AsyncModel("output_graph.pb"),  # type: ignore[arg-type]
    lambda model: AsyncModel(model, threads=0),
    lambda model: AsyncModel(model, threads="2"),  # type: ignore[arg-type]
    lambda _: EndpointRules("x"),  # type: ignore[arg-type]
    lambda _: EndpointRules(10**400),
    lambda _: EndpointRules(np.zeros(2)),  # type: ignore[arg-type]
]
WRONG_WITH_SCORER: list[Callable[[Model], Any]] = [
    lambda model: model.setScorerAlphaBeta("1", None),  # type: ignore[arg-type]
    lambda model: model.setScorerAlphaBeta(float("nan"), 1),
    lambda model: model.setScorerAlphaBeta([], 1),  # type: ignore[arg-type]
    lambda model: model.addHotWord(3, 1),  # type: ignore[arg-type]
    lambda model: model.addHotWord([], 1),  # type: ignore[arg-type]
    lambda model: model.addHotWord("a", "much"),  # type: ignore[arg-type]
    lambda model: model.addHotWord("a", float("nan")),
    lambda model: model.addHotWord("a", np.array([1.0, 2.0])),  # type: ignore[arg-type]
    lambda model: model.set_hot_words(None),  # type: ignore[arg-type]
    lambda model: model.set_hot_words([("a", 1)]),  # type: ignore[arg-type]
    lambda model: model.stream(hot_words=["a"]),  # type: ignore[arg-type]
    lambda model: model.eraseHotWord({}),  # type: ignore[arg-type]
]


def check(call: Callable[[Model], Any], model: Model) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(model)
    assert isinstance(caught.value, DeepSpeechError)
    assert "\n" not in str(caught.value)


def test_wrong_arguments_are_runtime_errors_and_change_nothing(graph_file: Path, scorer_file: Path) -> None:
    model = Model(graph_file)
    for call in WRONG:
        check(call, model)
    model.enableExternalScorer(scorer_file)
    weights = model.scorer_weights
    for call in WRONG_WITH_SCORER:
        check(call, model)
    assert model.scorer_weights == weights and model.beamWidth() == 32
    assert isinstance(model.stt(NO_SAMPLES), str)


def test_an_address_is_refused_as_it_was_given(graph_file: Path) -> None:
    model = Model(graph_file)
    for name, error, call in (
        ("model_path", ModelError, lambda: Model("https://host/a.pb")),
        ("scorer_path", ModelError, lambda: model.enableExternalScorer("https://host/a.pb")),
        ("audio", AudioError, lambda: model.transcribe("https://host/a.pb")),
    ):
        with pytest.raises(error, match=f"^{name} is an address, https://host/a.pb; download it, and give the pa"):
            call()


def test_names_that_are_loaded_at_their_first_use_can_be_completed() -> None:
    assert {"Model", "AsyncModel", "__version__"} <= {*dir(deepspeech)}


def test_weights_whose_sums_overflow_are_a_runtime_error(graph_file: Path, tmp_path: Path) -> None:
    edits = {"layer_5__weights": repeated(0, [48, 48]), "layer_5__bias": repeated(20, [48])}
    edits["layer_6__weights"] = repeated(-3e38, [48, 7])
    path = write(tmp_path / "overflow.pb", edited(definition_of(graph_file), **edits))
    with np.errstate(all="ignore"):
        check(lambda model: model.stt(np.full(3200, 1000, np.int16)), Model(path))


def test_a_folder_with_one_model_is_that_model(graph_file: Path, tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=f"{tmp_path}: is a folder without a model; deepspeech-train exports one"):
        Model(tmp_path)
    for other in ("model.md", "._model.PB"):
        (tmp_path / other).touch()
    shutil.copy(graph_file, tmp_path / "model.PB")
    noise = np.random.default_rng(1).normal(0, 2000, 16_000).astype(np.int16)
    assert Model(tmp_path).stt(noise) == Model(graph_file).stt(noise)
    shutil.copy(graph_file, tmp_path / "model.pbmm")
    several = f"{tmp_path}: is a folder of several models, model.PB, model.pbmm; name one, such as {tmp_path}/model.PB"
    with pytest.raises(GraphError, match=re.escape(several)):
        Model(tmp_path)
