from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.util.errors import FeatureError
from deepspeech.util.features import FeatureOptions
from deepspeech.util.frames.normalization import (
    PRIOR_VALUES,
    SMALLEST_DEVIATION,
    FeatureStatistics,
    GlobalNormalization,
    RunningNormalization,
    UtteranceNormalization,
)

RANDOM = np.random.default_rng(5)
SPEECH = (RANDOM.normal(size=(400, 3)) * [1, 4, 0.5] + [-8, 2, 0]).astype(np.float32)
STATISTICS = FeatureStatistics(np.array([-6, 1, 0], np.float32), np.array([2, 3, 1], np.float32))


def test_statistics_are_those_of_all_frames_together() -> None:
    statistics = FeatureStatistics.of([SPEECH[:10], SPEECH[10:10], SPEECH[10:250], SPEECH[250:]])
    np.testing.assert_allclose(statistics.mean, SPEECH.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(statistics.deviation, SPEECH.std(axis=0), atol=1e-5)
    assert statistics.mean.dtype == statistics.deviation.dtype == np.float32


def test_a_coefficient_that_never_changes_is_not_divided_by_zero() -> None:
    statistics = FeatureStatistics.of([np.full((50, 2), -15.9, np.float32)])
    np.testing.assert_allclose(statistics.deviation, SMALLEST_DEVIATION, rtol=1e-3)
    assert np.abs(GlobalNormalization(statistics)(np.full((4, 2), -15.9, np.float32))).max() < 0.1


def test_the_training_set_has_mean_0_and_deviation_1_once_it_is_normalized() -> None:
    normalized = GlobalNormalization(FeatureStatistics.of([SPEECH]))(SPEECH)
    np.testing.assert_allclose(normalized.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(normalized.std(axis=0), 1, atol=1e-4)


def test_running_statistics_follow_their_equations() -> None:
    expected = []
    values = (SPEECH.astype(np.float64) - STATISTICS.mean) / STATISTICS.deviation
    for count in range(1, len(values) + 1):
        seen = values[:count]
        mean = seen.sum(axis=0) / (PRIOR_VALUES + count)
        variance = (PRIOR_VALUES + (seen**2).sum(axis=0)) / (PRIOR_VALUES + count) - mean**2
        expected.append((seen[-1] - mean) / np.sqrt(variance))
    np.testing.assert_allclose(RunningNormalization(STATISTICS)(SPEECH), expected, atol=1e-5)


def test_an_utterance_has_mean_0_and_deviation_1_wherever_its_voice_and_microphone_lie() -> None:
    for signal in (SPEECH, SPEECH * np.float32(0.5) + np.float32(4)):
        normalized = UtteranceNormalization(STATISTICS)(signal.reshape(-1, 6))
        assert normalized.shape == (200, 6)
        np.testing.assert_allclose(normalized.reshape(-1, 3).mean(axis=0), 0, atol=1e-5)
        np.testing.assert_allclose(normalized.reshape(-1, 3).std(axis=0), 1, atol=1e-4)


def test_a_signal_far_from_the_training_set_comes_near_mean_0_in_time() -> None:
    far = np.tile(SPEECH, (200, 1)) * np.float32(0.5) + np.float32(4)
    normalized = RunningNormalization(STATISTICS)(far)[40_000:]
    assert np.abs(normalized.mean(axis=0)).max() < 0.1
    assert (normalized.std(axis=0) > 0.5).all() and (normalized.std(axis=0) < 1.2).all()
    assert np.abs(GlobalNormalization(STATISTICS)(far).mean(axis=0)).max() > 2


@given(st.lists(st.integers(0, 50), max_size=8), st.sampled_from([1, 2, 4]))
def test_a_stream_is_normalized_as_the_whole_wherever_it_is_cut(pieces: list[int], stacked: int) -> None:
    frames = SPEECH[: len(SPEECH) // stacked * stacked].reshape(-1, 3 * stacked)
    whole = RunningNormalization(STATISTICS)(frames)
    running = RunningNormalization(STATISTICS)
    parts = [running(piece) for piece in np.split(frames, np.minimum(np.cumsum(pieces, dtype=int), len(frames)))]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-6)


def test_no_frame_depends_on_those_to_come() -> None:
    other = SPEECH.copy()
    other[200:] += 50
    first, second = (RunningNormalization(STATISTICS)(frames)[:200] for frames in (SPEECH, other))
    np.testing.assert_array_equal(first, second)


def test_an_unknown_normalization_is_refused() -> None:
    with pytest.raises(FeatureError, match="no normalization 'batch'; there are none, global, running"):
        FeatureOptions(normalization="batch")
