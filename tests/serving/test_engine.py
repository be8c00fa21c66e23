"""The engine computes the same as TensorFlow with the same graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile
from graph_running import run_graph, windows_of

from deepspeech.serving.engine import Engine
from deepspeech.serving.feature_windows import FeatureWindows, context_windows
from deepspeech.serving.frozen.model import read_frozen_model
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.front_ends.mfcc import Mfcc

Array = npt.NDArray[np.float32]


def test_posteriors_are_the_graphs(graph_file: Path, recordings: list[Path]) -> None:
    model = read_frozen_model(graph_file)
    engine = Engine(model)
    for path in recordings[:3]:
        windows = windows_of(soundfile.read(path, dtype="float32")[0], model.info)
        posteriors, _ = engine.run(windows, engine.initial_state())
        np.testing.assert_allclose(posteriors, run_graph(graph_file, windows), atol=1e-4)


def test_posteriors_do_not_depend_on_where_the_signal_is_cut(graph_file: Path, recordings: list[Path]) -> None:
    model = read_frozen_model(graph_file)
    engine = Engine(model)
    windows = windows_of(soundfile.read(recordings[0], dtype="float32")[0], model.info)
    whole, _ = engine.run(windows, engine.initial_state())
    state, pieces = engine.initial_state(), []
    for start in range(0, len(windows), 7):
        piece, state = engine.run(windows[start : start + 7], state)
        pieces.append(piece)
    np.testing.assert_allclose(np.concatenate(pieces), whole, atol=1e-5)


@pytest.mark.parametrize("options", [FeatureOptions(), FeatureOptions(8000), FeatureOptions(44_100, window_ms=30)])
def test_mfccs_are_tensorflows(options: FeatureOptions) -> None:
    random = np.random.default_rng(1)
    loud: Array = random.normal(0, 0.2, 9000).clip(-1, 1).astype(np.float32)
    quiet = (np.round(loud * 4) / 32768).astype(np.float32)
    silent_between = loud * (np.arange(9000) // 2000 % 2)
    signals: list[Array] = [loud, quiet, silent_between.astype(np.float32), np.zeros(2000, np.float32)]
    for samples in signals:
        np.testing.assert_allclose(Mfcc(options)(samples), front_end(options).extract(samples), atol=1e-4)


@pytest.mark.parametrize("size", [1, 100, 319, 320, 321, 512, 4000])
def test_windows_do_not_depend_on_where_the_signal_is_cut(size: int) -> None:
    options = FeatureOptions()
    samples = np.random.default_rng(2).normal(0, 0.1, 4000).astype(np.float32)
    whole_windows = FeatureWindows(Mfcc(options).stream(), options.width, 9)
    whole = np.concatenate([whole_windows.feed(samples), whole_windows.finish()])
    windows = FeatureWindows(Mfcc(options).stream(), options.width, 9)
    pieces = [windows.feed(samples[start : start + size]) for start in range(0, len(samples), size)]
    np.testing.assert_array_equal(np.concatenate([*pieces, windows.finish()]), whole)


def test_a_window_is_a_frame_between_its_neighbours() -> None:
    frames = np.arange(10, dtype=np.float32).reshape(5, 2)
    assert context_windows(frames, 1).tolist() == [[0, 1, 2, 3, 4, 5], [2, 3, 4, 5, 6, 7], [4, 5, 6, 7, 8, 9]]
    assert context_windows(frames[:2], 1).shape == (0, 6)
