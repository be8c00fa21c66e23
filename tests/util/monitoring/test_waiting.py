"""How long a process has waited."""

from deepspeech.util.monitoring.waiting import Waiting


def test_the_time_in_which_a_process_was_suspended_is_not_waited_but_a_wait_of_slow_looks_ends() -> None:
    now = [100.0]
    waiting = Waiting(40.0, lambda: now[0])
    waited = []
    for seconds in (0.0, 0.5, 39.0, 3600.0, 0.5, 40.0):
        now[0] += seconds
        waited.append(waiting.seconds())
    assert waited == [0.0, 0.5, 39.5, 40.5, 41.0, 42.0]
