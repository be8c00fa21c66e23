"""The estimate of how long the rest of training takes."""

from __future__ import annotations

import pytest

from deepspeech.training.reporting.remaining_time import RemainingTime


def told(seconds: list[float], *, may_stop_early: bool = False) -> dict[int, str]:
    """Return the sentences by the number of epochs left, where the epochs take these seconds."""
    now = [0.0]
    remaining = RemainingTime(may_stop_early=may_stop_early, clock=lambda: now[0])
    sentences = {}
    for done, each in enumerate(seconds, start=1):
        now[0] += each
        sentences[len(seconds) - done] = remaining.epoch_done(len(seconds) - done)
    return {left: sentence for left, sentence in sentences.items() if sentence}


def test_the_first_epoch_of_a_run_does_not_count() -> None:
    sentences = told([1000.0, *[60.0] * 9])
    assert sentences[8] == "Training ends in about 8 min 0 s, after 8 more epochs"
    assert sentences[1] == "Training ends in about 1 min 0 s, after 1 more epoch"


def test_it_is_told_whenever_a_quarter_of_the_epochs_has_passed() -> None:
    assert list(told([60.0] * 100))[:6] == [98, 73, 54, 40, 30, 22]


def test_it_is_the_mean_of_all_epochs_of_the_run() -> None:
    assert told([0.0, 50.0, 100.0, 60.0, 60.0, 60.0])[3] == "Training ends in about 3 min 45 s, after 3 more epochs"


def test_less_than_a_minute_is_not_told() -> None:
    assert told([1.0] * 50) == {}


@pytest.mark.parametrize("may_stop_early", [False, True])
def test_it_says_whether_training_may_end_earlier(may_stop_early: bool) -> None:
    (sentence,) = told([60.0] * 3, may_stop_early=may_stop_early).values()
    assert sentence.endswith(", or earlier if validation no longer improves") == may_stop_early


def test_nothing_is_told_after_the_last_epoch() -> None:
    assert 0 not in told([600.0] * 4)
