"""Where masks, gaps and cuts lie: they are whole, and leave something of an array that is shorter than they are."""

import numpy as np
import pytest
from augmenting import TONE, augmented

FEATURES = np.random.default_rng(2).normal(3, 1, (14, 14)).astype(np.float32)


@pytest.mark.parametrize(("kind", "size", "axis"), [("time_mask", 200, 1), ("frequency_mask", 10, 0)])
def test_a_mask_is_whole_wherever_it_lies(kind: str, size: int, axis: int) -> None:
    written = f"{kind}[domain=features,n=1,size={size}]"
    masks = [(augmented(written, FEATURES, seed) != FEATURES).any(axis) for seed in range(40)]
    assert {int(mask.sum()) for mask in masks} == {10}
    assert {int(mask.argmax()) for mask in masks} >= {0, 1, 2, 3}


@pytest.mark.parametrize(("kind", "size", "axis"), [("time_mask", 60_000, 1), ("frequency_mask", 1000, 0)])
def test_a_mask_leaves_one_entry_of_what_is_shorter_than_the_mask(kind: str, size: int, axis: int) -> None:
    left = (augmented(f"{kind}[domain=features,n=1,size={size}]", FEATURES) == FEATURES).all(axis)
    assert left.sum() == 1


def test_a_time_mask_shorter_than_an_entry_masks_one_and_a_frequency_mask_of_no_size_none() -> None:
    assert (augmented("time_mask[domain=features,n=1,size=0]", FEATURES) != FEATURES).any(1).sum() == 1
    np.testing.assert_array_equal(augmented("frequency_mask[domain=features,n=1,size=0]", FEATURES), FEATURES)


def test_an_utterance_whose_pieces_are_all_cut_out_stays_and_one_that_is_moved_away_is_silent() -> None:
    np.testing.assert_array_equal(augmented("drop_samples[n=1,size=10]", TONE[1:2]), TONE[1:2])
    for time in (-3000, 3000, 5000):
        np.testing.assert_array_equal(augmented(f"shift[time={time}]"), np.zeros_like(TONE))


def test_trimming_to_the_loudest_samples_keeps_them_and_what_is_between() -> None:
    signal = np.array([0.1, 0.5, 0.2, -0.5, 0.3], np.float32)
    np.testing.assert_array_equal(augmented("trim[below=0]", signal), signal[1:4])
