from deepspeech.options import EarlyStoppingOptions
from deepspeech.schedule.early_stopping import should_stop

OPTIONS = EarlyStoppingOptions(steps=4, mean_threshold=0.5, deviation_threshold=0.5)


def test_stops_when_the_newest_loss_is_worse_than_all_before_it() -> None:
    assert should_stop([30.0, 20.0, 10.0, 31.0], OPTIONS)


def test_goes_on_while_losses_fall() -> None:
    assert not should_stop([30.0, 20.0, 10.0, 5.0], OPTIONS)


def test_goes_on_after_a_loss_that_is_worse_than_some_but_not_all() -> None:
    assert not should_stop([30.0, 20.0, 10.0, 15.0], OPTIONS)


def test_stops_when_losses_are_flat() -> None:
    assert should_stop([5.2, 5.1, 5.0, 4.9], OPTIONS)


def test_goes_on_when_the_newest_is_near_the_mean_of_losses_that_vary_much() -> None:
    assert not should_stop([2.0, 9.0, 4.0, 5.0], OPTIONS)


def test_never_stops_before_there_are_enough_losses() -> None:
    assert not should_stop([1.0, 2.0, 3.0], OPTIONS)


def test_looks_only_at_the_last_steps() -> None:
    assert should_stop([100.0, 3.0, 2.0, 1.0, 4.0], OPTIONS)


def test_never_stops_when_disabled() -> None:
    assert not should_stop([5.0, 5.0, 5.0, 5.0], EarlyStoppingOptions(enabled=False))
