from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.util.features import FeatureOptions
from deepspeech.util.frames.stacking import Stacking

SIZES = st.builds(Stacking, st.integers(1, 5), st.integers(1, 7))


@given(SIZES, st.integers(0, 40))
def test_every_frame_of_the_network_is_its_frames_side_by_side(stacking: Stacking, frames: int) -> None:
    features = np.arange(2 * frames, dtype=np.float32).reshape(frames, 2)
    stacked = stacking(features)
    assert stacked.shape == (stacking.count(frames), 2 * stacking.frames)
    for index, row in enumerate(stacked):
        places = np.minimum(index * stacking.skip + np.arange(stacking.frames), frames - 1)
        np.testing.assert_array_equal(row, features[places].reshape(-1))


@given(SIZES, st.lists(st.integers(0, 9), max_size=8))
def test_a_stream_is_stacked_as_the_whole_wherever_it_is_cut(stacking: Stacking, pieces: list[int]) -> None:
    features = np.random.default_rng(len(pieces)).normal(size=(sum(pieces), 3)).astype(np.float32)
    stream = stacking.stream()
    parts = [stream.feed(piece) for piece in np.split(features, np.cumsum([0, *pieces], dtype=int))]
    np.testing.assert_array_equal(np.concatenate([*parts, stream.finish()]), stacking(features))


def test_frames_are_as_they_were_unless_they_are_stacked() -> None:
    features = np.ones((3, 2), np.float32)
    assert Stacking()(features) is features
    assert FeatureOptions().stacking == Stacking()


def test_as_many_are_skipped_as_are_stacked_unless_it_is_said() -> None:
    options = FeatureOptions(feature_type="fbank", stack_frames=3)
    assert (options.stacking, options.width, options.network_step_ms) == (Stacking(3, 3), 240, 30)
    assert FeatureOptions(stack_frames=3, skip_frames=1).network_step_ms == 20
