"""Intervals contain the true rate, and tests of significance are right, as often as they promise."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from deepspeech.util.figures.errors import resampling
from deepspeech.util.figures.errors.resampling import (
    difference_interval,
    rate_intervals,
    resampling_units,
    significance,
)


def draw(random: np.random.Generator, rates: npt.NDArray[np.float64], words: int = 10) -> npt.NDArray[np.float64]:
    """Return errors and lengths, float64 [utterances, 2], of utterances with these error rates."""
    return np.stack([random.binomial(words, rates), np.full(len(rates), words)], axis=1, dtype=np.float64)


@pytest.fixture
def fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "RESAMPLES", 300)
    monkeypatch.setattr(resampling, "EXCHANGES", 300)


@pytest.mark.usefixtures("fewer_draws")
def test_the_interval_of_utterances_holds_the_true_rate_in_19_of_20_simulations() -> None:
    random = np.random.default_rng(5)
    held = 0
    for _ in range(300):
        (interval,) = rate_intervals(draw(random, random.beta(2, 8, 120)), np.arange(120))  # the mean rate is 0.2
        held += interval.low <= 0.2 <= interval.high
    assert 0.91 <= held / 300 <= 0.985


@pytest.mark.usefixtures("fewer_draws")
def test_where_speakers_differ_only_the_interval_over_speakers_is_wide_enough() -> None:
    random = np.random.default_rng(6)
    held = {True: 0, False: 0}
    for _ in range(200):
        speakers = np.repeat(np.arange(25), 20)
        counts = draw(random, random.beta(2, 8, 25)[speakers])
        for by_speaker, units in ((True, speakers), (False, np.arange(500))):
            (interval,) = rate_intervals(counts, units)
            held[by_speaker] += interval.low <= 0.2 <= interval.high
    assert held[True] / 200 >= 0.88
    assert held[False] / 200 <= 0.6


def test_an_interval_is_the_same_each_time_and_narrow_for_many_utterances() -> None:
    random = np.random.default_rng(7)
    few, many = (draw(random, np.full(count, 0.2)) for count in (50, 5000))
    assert rate_intervals(few, np.arange(50)) == rate_intervals(few, np.arange(50))
    widths = [each.high - each.low for counts in (few, many) for each in rate_intervals(counts, np.arange(len(counts)))]
    assert widths[0] > 5 * widths[1]


def test_several_rates_are_drawn_together() -> None:
    counts = draw(np.random.default_rng(8), np.full(60, 0.3))
    both = rate_intervals(np.concatenate([counts, counts], axis=1), np.arange(60))
    assert both[0] == both[1]


def test_speakers_are_drawn_where_there_are_enough_of_them() -> None:
    assert resampling_units(["a", "b", "c", "a", "d", "e"])[1] is False
    units, of_speakers = resampling_units(["a", "b", "c", "a", "d", "e", "f", "", ""])
    assert of_speakers
    assert units[0] == units[3]
    assert len(set(units.tolist())) == 8  # utterances without a speaker are units of their own


def test_a_system_does_not_differ_from_itself() -> None:
    counts = draw(np.random.default_rng(9), np.full(40, 0.2))
    units = np.arange(40)
    assert significance(counts[:, 0], counts[:, 0], units) == 1
    interval = difference_interval(counts, counts, units)
    assert (interval.low, interval.high) == (0, 0)


@pytest.mark.usefixtures("fewer_draws")
def test_equal_systems_are_seldom_told_apart_and_unequal_ones_mostly() -> None:
    random = np.random.default_rng(10)
    found = {0.2: 0, 0.25: 0}
    for _ in range(200):
        rates = random.beta(2, 8, 300)
        first = draw(random, rates)
        for mean in found:
            second = draw(random, np.minimum(rates * mean / 0.2, 1))
            found[mean] += significance(first[:, 0], second[:, 0], np.arange(300)) < 0.05
    assert found[0.2] / 200 <= 0.09
    assert found[0.25] / 200 >= 0.9


def test_five_differences_are_too_few_to_be_significant() -> None:
    first, second = np.zeros(5), np.ones(5)
    assert significance(first, second, np.arange(5)) == pytest.approx(2 / 2**5, abs=0.01)
