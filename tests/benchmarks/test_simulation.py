"""Simulated clusters: what is computed, counted and lost adds up, and the same seed gives the same figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.simulation.cluster import Cluster
from benchmarks.simulation.events import Signal, Steps, Time
from benchmarks.simulation.processes import Processes
from benchmarks.simulation.scenario import Kill, Scenario

QUICK = Scenario(8, hours=2.0, model_bytes=1e6, restart_seconds=20.0, checkpoint_seconds=60.0)


def test_without_failures_nothing_is_lost_and_waiting_for_the_slowest_costs_as_much_as_expected() -> None:
    outcome = Cluster(replace(QUICK, straggling=0.0)).run(300.0)
    assert outcome.discarded == outcome.lost_members == outcome.rollbacks == 0
    assert 0 <= outcome.computed - outcome.counted <= 8
    assert 0.9 < outcome.efficiency < 1.0
    # The mean of the greatest of eight standard normal numbers is 1.42.
    assert Cluster(QUICK).run(300.0).efficiency == pytest.approx(outcome.efficiency / (1 + 1.42 * 0.2), rel=0.05)


def test_a_worker_that_dies_costs_the_others_a_lease_unless_there_are_spares() -> None:
    killed = replace(QUICK, straggling=0.0, kills=tuple(Kill(100.0 + 40 * n, n, 20.0) for n in range(4)))
    whole, spared = (Cluster(replace(killed, spares=spares)).run(300.0) for spares in (0.0, 0.25))
    assert whole.deaths == whole.lost_members == spared.deaths == 4
    assert whole.discarded == 4
    assert spared.discarded == 0
    undisturbed = Cluster(replace(QUICK, straggling=0.0)).run(300.0)
    assert undisturbed.steps - whole.steps == pytest.approx(4 * (QUICK.lease_seconds + 2.0) / 2.6, abs=4)


def test_a_lost_parameter_server_takes_back_what_was_done_since_the_checkpoint() -> None:
    outcome = Cluster(replace(QUICK, hours_between_server_failures=0.05)).run(900.0)
    assert outcome.rollbacks > 0
    assert outcome.lost_work > 0.05
    assert outcome == replace(
        Cluster(replace(QUICK, hours_between_server_failures=0.05)).run(900.0), machine_seconds=outcome.machine_seconds
    )


def test_whoever_has_waited_long_enough_is_not_among_those_that_a_signal_wakes() -> None:
    time, signal = Time(), Signal()
    came: list[tuple[float, bool]] = []

    def wait(seconds: float) -> Steps:
        came.append((seconds, (yield signal, seconds)))

    for seconds in (1.0, 5.0, 2.0):
        time.start(wait(seconds))
    time.run(until=3.0)
    assert (len(signal.waiting), came) == (1, [(1.0, False), (2.0, False)])
    time.send(signal)
    time.run(until=10.0)
    assert (signal.waiting, came[2:]) == ([], [(5.0, True)])


def test_results_of_an_open_round_are_not_among_those_that_were_discarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers hand in two results a round, and three results were discarded before."""
    read = ((counted, counted + 3 + of_open_round) for counted in range(0, 100, 2) for of_open_round in (2, 0, 1))
    processes = Processes([], batches=8)
    monkeypatch.setattr(processes, "counted", lambda: next(read))
    assert processes.discarded() == 3
