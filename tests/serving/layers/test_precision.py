"""Weights of fewer bits give the results of 32 bits, and a loaded model keeps its weights only once."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech import Model
from deepspeech.errors import ModelError


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_weights_of_fewer_bits_give_the_same_texts(
    graph_file: Path, model: Model, recordings: list[Path], precision: str
) -> None:
    small = Model(graph_file, precision=precision)
    for path in recordings:
        samples = np.asarray(soundfile.read(path, dtype="int16")[0])
        assert small.stt(samples) == model.stt(samples)
        signal = samples.astype(np.float32) / np.float32(32768)
        np.testing.assert_allclose(small.posteriors(signal), model.posteriors(signal), atol=0.1)


def test_the_precision_can_be_left_to_the_processor(graph_file: Path, model: Model, recordings: list[Path]) -> None:
    samples = np.asarray(soundfile.read(recordings[0], dtype="int16")[0])
    assert Model(graph_file, "auto").stt(samples) == model.stt(samples)
    with pytest.raises(ModelError, match="float32, bfloat16, int8, auto"):
        Model(graph_file, "int4")


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's list of mapped files")
def test_a_loaded_model_does_not_keep_its_file_in_memory(graph_file: Path) -> None:
    for precision in ("float32", "bfloat16", "int8"):
        loaded = Model(graph_file, precision)
        assert str(graph_file) not in Path("/proc/self/maps").read_text(encoding="utf-8")
        del loaded
