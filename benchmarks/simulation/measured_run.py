"""Checks the simulation against processes: do two workers, one of which is killed, count the same number of batches?

    python -m benchmarks.simulation.measured_run [--seconds 150] [--kills 3] [--n_hidden 256]

One parameter server and two workers train. Worker 1 repeatedly gets SIGKILL and is restarted at once. The simulation
uses times that were measured in the same run:

* each worker's time for a gradient at that moment, since the machine may be busy with other things,
* the time of the chief's step,
* the time from each kill until worker 1 had joined, and until it had done its first step.

All else, such as which rounds wait, end and are discarded, is decided by the coordinator.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..processes.arguments import above_zero, at_least
from ..train_epoch import write_corpus
from .cluster import Cluster
from .processes import Processes, Step
from .scenario import BATCH_HOURS, Kill, Scenario

LEASE_SECONDS = 4.0
UTTERANCES = 256
BATCH = 8

BEGINNING_SECONDS = 30.0
"""Simulated seconds before the compared period."""

NEIGHBOURS = 5
"""A simulated gradient takes the time of one of this many measured ones before or after its moment."""

SEEDS = 20
"""Number of simulations of a run; their mean counts."""


@dataclass(frozen=True)
class Measured:
    """The measurements of a run over `seconds`; the times of kills count from the beginning of this period."""

    seconds: float
    counted: int
    discarded: int
    gradients: tuple[list[Step], ...]
    apply_seconds: float
    first_step_seconds: float
    kills: tuple[Kill, ...]


class MeasuredCluster(Cluster):
    """A simulated cluster whose workers take the measured times for gradients."""

    def __init__(self, measured: Measured, seed: int) -> None:
        """Schedule the measured kills, after the beginning."""
        self._gradients = measured.gradients
        self._draws = random.Random(seed)
        kills = (Kill(BEGINNING_SECONDS + kill.at_seconds, kill.task, kill.away_seconds) for kill in measured.kills)
        scenario = Scenario(
            workers=2,
            hours=UTTERANCES / BATCH * BATCH_HOURS,
            first_step_seconds=measured.first_step_seconds,
            model_bytes=0.0,
            apply_seconds=measured.apply_seconds,
            lease_seconds=LEASE_SECONDS,
            kills=tuple(kills),
        )
        super().__init__(scenario, seed)

    def step_seconds(self, task: int) -> float:
        """Return one of the worker's times that were measured around now."""
        now = self.time.now - BEGINNING_SECONDS
        place = bisect(self._gradients[task], now, key=lambda step: step.begun)
        return self._draws.choice(self._gradients[task][max(place - NEIGHBOURS, 0) :][: 2 * NEIGHBOURS]).seconds

    def counted_in(self, seconds: float) -> tuple[int, int]:
        """Return the number of batches counted, and of results taken, in some seconds after the beginning."""
        self.run(BEGINNING_SECONDS)
        counted, results = self.counted, self.coordinator.counts.results
        self.run(BEGINNING_SECONDS + seconds)
        return self.counted - counted, self.coordinator.counts.results - results


def measure(processes: Processes, seconds: float, kills: int) -> Measured:
    """Kill and restart worker 1 while the processes train, and return the measurements."""
    processes.start()
    processes.wait_for_steps(20)
    discarded = processes.discarded()
    begin, (counted, _) = time.monotonic(), processes.counted()
    done: list[tuple[float, float, float]] = []
    for number in range(kills):
        time.sleep(max(begin + seconds * (number + 0.5) / kills - time.monotonic(), 0.0))
        done.append(processes.kill_and_restart(1))
    time.sleep(max(begin + seconds - time.monotonic(), 0.0))
    end, (counted_then, _) = time.monotonic(), processes.counted()
    discarded = processes.discarded() - discarded
    firsts = [first for *_, first in done]
    gradients = tuple(
        [
            Step(step.round, step.begun - begin, step.ended - begin)
            for step in processes.steps(task)
            if step.begun > begin and not (task == 1 and step.ended in firsts)
        ]
        for task in range(2)
    )
    return Measured(
        end - begin,
        counted_then - counted,
        discarded,
        gradients,
        _apply_seconds(gradients),
        statistics.fmean(first - joined for _, joined, first in done) - _mean_seconds(gradients[1]),
        tuple(Kill(kill - begin, 1, joined - kill) for kill, joined, _ in done),
    )


def _apply_seconds(steps: Sequence[Sequence[Step]]) -> float:
    """Return the mean time from a round's last result to the first step of the next round."""
    rounds: dict[int, list[Step]] = {}
    for step in (step for of_worker in steps for step in of_worker):
        rounds.setdefault(step.round, []).append(step)
    complete = {number: both for number, both in rounds.items() if len(both) == 2}
    return statistics.fmean(
        min(step.begun for step in complete[number + 2]) - max(step.ended for step in both)
        for number, both in complete.items()
        if number + 2 in complete
    )


def _mean_seconds(steps: Sequence[Step]) -> float:
    return statistics.fmean(step.seconds for step in steps)


def main() -> None:
    """Measure, simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n_hidden", type=at_least(1), default=256)
    parser.add_argument("--seconds", type=above_zero, default=150.0)
    parser.add_argument("--kills", type=at_least(1), default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        csv_file, alphabet = write_corpus(Path(folder), UTTERANCES)
        flags = [
            *(f"--train_files={csv_file}", f"--alphabet_config_path={alphabet}", f"--checkpoint_dir={folder}/saved"),
            *(f"--train_cached_features_path={folder}/train.h5", f"--n_hidden={options.n_hidden}"),
            *(f"--train_batch_size={BATCH}", "--epoch=100000", f"--coord_lease_secs={LEASE_SECONDS:g}"),
        ]
        with Processes(flags, UTTERANCES // BATCH) as processes:
            measured = measure(processes, options.seconds, options.kills)
    outcomes = [MeasuredCluster(measured, seed).counted_in(measured.seconds) for seed in range(SEEDS)]
    counted, results = (statistics.fmean(figures) for figures in zip(*outcomes, strict=True))
    means = ", ".join(f"{_mean_seconds(steps):.3f} s" for steps in measured.gradients)
    away = ", ".join(f"{kill.at_seconds:.0f} s for {kill.away_seconds:.1f} s" for kill in measured.kills)
    print(f"gradients of the workers: {means}; the chief's step: {measured.apply_seconds:.3f} s")
    print(f"worker 1 was away at {away}; its first step took {measured.first_step_seconds:.1f} s more")
    print(f"batches counted in {measured.seconds:.0f} s: measured {measured.counted}, simulated {counted:.1f}")
    print(f"simulated / measured: {counted / measured.counted:.3f}")
    simulated = results - counted
    print(f"gradients that were handed in and discarded: measured {measured.discarded}, simulated {simulated:.1f}")


if __name__ == "__main__":
    main()
