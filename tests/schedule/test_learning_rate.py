import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.options import LearningRateOptions
from deepspeech.options.training.learning_rate import CONSTANT, SCHEDULES
from deepspeech.schedule.learning_rate import LearningRate
from deepspeech.schedule.state import TrainingState

BATCHES = 10


def rates(options: LearningRateOptions, epochs: int = 8, batches_per_step: int = 1, reductions: int = 0) -> list[float]:
    """Return the rate of each step of a whole training."""
    rate = LearningRate(0.5, options, batches_per_step)
    return [
        rate.at(TrainingState(epoch=epoch, target_epoch=epochs, plateau_reductions=reductions), done, BATCHES)
        for epoch in range(epochs)
        for done in range(0, BATCHES, batches_per_step)
    ]


def test_the_rate_is_the_base_at_every_step_by_default() -> None:
    assert set(rates(LearningRateOptions())) == {0.5}


@pytest.mark.parametrize("warmup", [{"warmup_steps": 20}, {"warmup_epochs": 2.0}])
def test_the_warm_up_rises_evenly_to_the_base(warmup: dict[str, float]) -> None:
    found = rates(LearningRateOptions(**warmup))  # type: ignore[arg-type]
    assert found[:20] == pytest.approx([0.5 * (step + 1) / 20 for step in range(20)])
    assert set(found[20:]) == {0.5}


def test_a_cosine_falls_from_the_base_after_the_warm_up_to_the_minimum_at_the_end() -> None:
    found = rates(LearningRateOptions("cosine", warmup_steps=10, minimum=0.1))
    assert found[9] == found[10] == 0.5
    assert all(later < earlier for earlier, later in pairwise(found[10:]))
    assert found[45] == pytest.approx((0.5 + 0.1) / 2)
    assert 0.1 < found[-1] < 0.101


def test_the_inverse_square_root_has_halved_after_four_warm_ups() -> None:
    found = rates(LearningRateOptions("inverse_sqrt", warmup_steps=10))
    assert found[10] == 0.5
    assert found[40] == pytest.approx(0.25)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_begins_with_the_base_after_the_warm_up_and_all_but_constant_change_it(schedule: str) -> None:
    found = rates(LearningRateOptions(schedule, warmup_steps=10))
    assert found[10] == 0.5
    assert (found[-1] != 0.5) == (schedule != CONSTANT)


def test_each_plateau_lowers_every_later_rate_but_not_below_the_minimum() -> None:
    options = LearningRateOptions(on_plateau=True, plateau_reduction=0.1, minimum=0.01)
    assert rates(options, reductions=1) == pytest.approx([0.05] * 80)
    assert rates(options, reductions=3) == pytest.approx([0.01] * 80)


@pytest.mark.parametrize("options", [LearningRateOptions("cosine"), LearningRateOptions(warmup_steps=10)])
def test_plateaus_of_an_earlier_run_do_not_lower_the_rate_of_one_that_looks_for_none(
    options: LearningRateOptions,
) -> None:
    assert rates(options, reductions=2) == rates(options)


def test_steps_of_several_batches_are_counted_as_one() -> None:
    found = rates(LearningRateOptions("cosine", warmup_epochs=1), batches_per_step=4)
    assert len(found) == 8 * 3
    assert found[:3] == pytest.approx([0.5 / 3, 1 / 3, 0.5])


def by_formula(options: LearningRateOptions, step: int, steps: int, warmup: int, plateaus: int) -> float:
    base = 0.5 * options.plateau_reduction ** (plateaus * options.on_plateau)
    if step < warmup:
        return base * (step + 1) / warmup
    falling = (
        options.minimum + (base - options.minimum) * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2
    )
    root = base * math.sqrt(warmup / max(step, 1))
    return max({"cosine": falling, "inverse_sqrt": root}.get(options.schedule, base), options.minimum)


@given(
    st.sampled_from(SCHEDULES),
    st.floats(0.1, 3.0),
    st.sampled_from([0.0, 0.1, 0.3]),
    st.booleans(),
    st.tuples(*[st.integers(1, 5)] * 2),
    st.tuples(st.integers(0, 8), st.integers(0, BATCHES - 1), st.integers(0, 3)),
)
def test_the_rates_are_those_of_the_formulas_at_every_batch_and_of_the_last_step_after_the_target(
    schedule: str, warmup: float, minimum: float, on_plateau: bool, sizes: tuple[int, int], at: tuple[int, int, int]
) -> None:
    (per_step, target), (epoch, done, plateaus) = sizes, at
    options = LearningRateOptions(schedule, 0, warmup, minimum, on_plateau, plateau_reduction=0.5)
    steps_per_epoch = math.ceil(BATCHES / per_step)
    step = epoch * steps_per_epoch + done // per_step
    first = math.ceil(warmup * steps_per_epoch)
    state = TrainingState(epoch=epoch, target_epoch=target, plateau_reductions=plateaus)
    expected = by_formula(options, step, max(target * steps_per_epoch, step + 1), first, plateaus)
    assert LearningRate(0.5, options, per_step).at(state, done, BATCHES) == pytest.approx(expected)


@given(
    st.sampled_from(["constant", "cosine", "inverse_sqrt"]),
    st.integers(1, 30),
    st.integers(0, 12),
    st.integers(0, BATCHES - 1),
)
def test_the_rate_is_positive_finite_and_at_most_the_base_wherever_training_stands(
    schedule: str, warmup: int, epoch: int, done: int
) -> None:
    rate = LearningRate(0.5, LearningRateOptions(schedule, warmup_steps=warmup))
    found = rate.at(TrainingState(epoch=epoch, target_epoch=10), done, BATCHES)
    assert 0 < found <= 0.5
    assert math.isfinite(found)


def test_a_later_target_stretches_what_is_left_of_a_cosine() -> None:
    rate = LearningRate(0.5, LearningRateOptions("cosine"))
    state = TrainingState(epoch=4, target_epoch=5)
    assert rate.at(replace(state, target_epoch=8), 0, BATCHES) > rate.at(state, 0, BATCHES)
