from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.cli.flags import read_command_line
from deepspeech.options import EarlyStoppingOptions
from deepspeech.schedule.early_stopping import patience_is_over, should_stop

THRESHOLDS = EarlyStoppingOptions(steps=4, mean_threshold=0.5, deviation_threshold=0.5, thresholds_given=True)
PATIENCE = EarlyStoppingOptions()

PLATEAU = (53.77, 53.45, 53.42, 53.33, 53.45, 53.41, 53.40, 53.38, 53.42, 53.36, 53.37, 53.35, 53.36, 53.33, 53.34)
FALL = (50.1, 46.2, 41.9, 37.5, 33.4, 30.2, 27.8, 26.1, 25.0, 24.4, 24.0, 23.7, 23.5)
FLAT = (23.6, 23.5, 23.7, 23.6, 23.9, 23.8, 23.7, 24.0, 24.1, 23.9, 24.2, 24.3, 24.4, 24.3, 24.6, 24.8, 24.7, 25.1)

LOSSES = st.lists(st.floats(0.0, 1e4), max_size=60)
PATIENCES = st.integers(1, 20)
IMPROVEMENTS = st.floats(0.0, 0.5)


def stops_at(losses: Sequence[float], options: EarlyStoppingOptions, *, varied_from: int = 0) -> int | None:
    """Return the validation, counted from 0, after which training stops; the output varies from `varied_from` on."""
    for index in range(len(losses)):
        if should_stop(losses[: index + 1], options, varied=max(index + 1 - varied_from, 0)):
            return index
    return None


def by_thresholds(losses: Sequence[float]) -> bool:
    return should_stop(losses, THRESHOLDS, varied=0)


def test_a_plateau_of_fifteen_validations_before_the_fall_does_not_stop_training() -> None:
    assert stops_at(PLATEAU + FALL, PATIENCE) is None


def test_thresholds_stop_on_the_plateau_before_the_fall() -> None:
    assert stops_at(PLATEAU + FALL, THRESHOLDS) == 3


def test_flat_losses_after_the_fall_stop_training_when_patience_is_over() -> None:
    best = len(PLATEAU + FALL) - 1
    stopped = stops_at(PLATEAU + FALL + FLAT, PATIENCE, varied_from=len(PLATEAU))
    assert stopped is not None
    assert best < stopped <= best + PATIENCE.patience


def test_a_plateau_of_any_length_does_not_stop_training_while_the_output_is_blank_or_one_letter() -> None:
    blank = PLATEAU * 10
    assert stops_at(blank, PATIENCE, varied_from=len(blank)) is None
    assert stops_at(blank + FALL, PATIENCE, varied_from=len(blank)) is None


def test_patience_begins_when_the_output_varies() -> None:
    flat = (50.0,) * 100
    assert stops_at(flat, EarlyStoppingOptions(patience=5), varied_from=40) == 45


def test_noise_on_a_slow_fall_does_not_stop_training() -> None:
    noisy = [50 * 0.97**index * (1.04 if index % 3 == 0 else 0.97 if index % 3 == 1 else 1.0) for index in range(80)]
    assert stops_at(noisy, PATIENCE) is None


def test_noise_on_flat_losses_stops_training() -> None:
    noisy = [50 * (1.004 if index % 3 == 0 else 0.998 if index % 3 == 1 else 1.0) for index in range(80)]
    assert stops_at(noisy, PATIENCE) is not None


def test_small_improvements_add_up() -> None:
    assert stops_at([50 * 0.998**index for index in range(200)], PATIENCE) is None


def test_never_stops_when_disabled() -> None:
    assert stops_at([5.0] * 100, EarlyStoppingOptions(enabled=False)) is None
    assert stops_at([5.0] * 100, EarlyStoppingOptions(enabled=False, thresholds_given=True)) is None


@given(st.lists(st.floats(1e-3, 1e4), min_size=1, max_size=60), PATIENCES, IMPROVEMENTS, st.floats(0.5, 0.999))
def test_never_stops_right_after_the_best_so_far_however_little_better_it_is(
    losses: list[float], patience: int, improvement: float, share: float
) -> None:
    assert not patience_is_over([*losses, share * min(losses)], patience, improvement)


@given(LOSSES.filter(len), PATIENCES, IMPROVEMENTS, st.lists(st.floats(0.0, 1e4), max_size=20))
def test_never_stops_before_patience_is_over(
    losses: list[float], patience: int, improvement: float, following: list[float]
) -> None:
    better = (1 - improvement) * min(losses) - 1e-3
    assert not patience_is_over(losses[:patience], patience, improvement)
    assert not patience_is_over([*losses, better, *following[: patience - 1]], patience, improvement)


@given(LOSSES.filter(len), PATIENCES, IMPROVEMENTS)
def test_always_stops_once_losses_stay_as_they_are(losses: list[float], patience: int, improvement: float) -> None:
    assert patience_is_over(losses + losses[-1:] * (patience + 1), patience, improvement)


@given(LOSSES, PATIENCES, IMPROVEMENTS, st.integers(-8, 8))
def test_the_unit_of_the_losses_does_not_matter(
    losses: list[float], patience: int, improvement: float, exponent: int
) -> None:
    losses = [round(loss, 3) for loss in losses]
    scaled = [loss * 2.0**exponent for loss in losses]
    assert patience_is_over(scaled, patience, improvement) == patience_is_over(losses, patience, improvement)


@given(LOSSES, PATIENCES, IMPROVEMENTS)
def test_more_patience_never_stops_sooner(losses: list[float], patience: int, improvement: float) -> None:
    if patience_is_over(losses, patience + 1, improvement):
        assert patience_is_over(losses, patience, improvement)


@given(LOSSES, PATIENCES)
def test_never_stops_while_the_output_is_blank_or_one_letter(losses: list[float], patience: int) -> None:
    assert not should_stop(losses, EarlyStoppingOptions(patience=patience), varied=0)


@pytest.mark.parametrize("given_flag", ["--earlystop_nsteps=4", "--estop_mean_thresh=0.5", "--estop_std_thresh=0.5"])
def test_thresholds_take_the_place_of_patience_when_one_of_their_flags_is_given(given_flag: str) -> None:
    read = read_command_line([given_flag, "--es_epochs=3"], EarlyStoppingOptions(), "usage")
    assert read is not None
    assert read.options.by_thresholds


def test_patience_and_improvement_have_the_flags_of_deepspeech_0_9() -> None:
    read = read_command_line(["--es_epochs=3", "--es_min_delta=0.2"], EarlyStoppingOptions(), "usage")
    assert read is not None
    assert read.options == EarlyStoppingOptions(patience=3, improvement=0.2)
    assert not read.options.by_thresholds


@pytest.mark.parametrize("chosen", [{"steps": 5}, {"mean_threshold": 0.1}, {"deviation_threshold": 0.1}])
def test_other_thresholds_than_the_defaults_take_the_place_of_patience(chosen: dict[str, float]) -> None:
    assert EarlyStoppingOptions(**chosen).by_thresholds  # type: ignore[arg-type]
    assert not EarlyStoppingOptions().by_thresholds


def test_thresholds_stop_when_the_newest_loss_is_worse_than_all_before_it() -> None:
    assert by_thresholds([30.0, 20.0, 10.0, 31.0])


def test_thresholds_go_on_while_losses_fall() -> None:
    assert not by_thresholds([30.0, 20.0, 10.0, 5.0])
    assert not by_thresholds([5.2, 5.1, 5.0, 4.0])


def test_thresholds_go_on_after_a_loss_that_is_worse_than_some_but_not_all() -> None:
    assert not by_thresholds([30.0, 20.0, 10.0, 15.0])
    assert not by_thresholds([9.0, 5.0, 1.0, 9.0])


def test_thresholds_stop_when_losses_are_flat() -> None:
    assert by_thresholds([5.2, 5.1, 5.0, 4.9])


def test_a_threshold_of_0_stops_no_flat_losses() -> None:
    for options in (replace(THRESHOLDS, mean_threshold=0.0), replace(THRESHOLDS, deviation_threshold=0.0)):
        assert not should_stop([5.0] * 4, options, varied=0)


def test_thresholds_go_on_when_the_newest_is_near_the_mean_of_losses_that_vary_much() -> None:
    assert not by_thresholds([2.0, 9.0, 4.0, 5.0])


def test_thresholds_never_stop_before_there_are_enough_losses() -> None:
    assert not by_thresholds([1.0, 2.0, 3.0])


def test_thresholds_look_only_at_the_last_steps() -> None:
    assert by_thresholds([100.0, 3.0, 2.0, 1.0, 4.0])
