"""Simulates clusters of 1 to 10,000 workers: prints a table by size and failure rate, and draws plots.

    python -m benchmarks.simulation [--out docs/images/scale.svg] [--workers 1 100 1000] [--figures FILE]

Each cluster is simulated for some minutes to an hour; the more workers, the shorter. `--figures` keeps the figures in a
file of JSON lines, and reuses those that are there already.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..processes.arguments import at_least
from .cluster import Cluster, Outcome
from .plots import draw
from .scenario import Scenario

SECONDS = {1: 3600.0, 100: 1800.0, 1000: 600.0, 10_000: 150.0}
"""Simulated seconds for each number of workers."""

TROUBLES = ((math.inf, 0.0), (24.0, 0.0), (1.0, 0.0), (24.0, 0.1), (1.0, 0.1))
"""Pairs: hours between failures of a worker, and the share of workers whose gradients a step does not wait for."""

COLUMNS = (
    *("workers", "a worker fails every", "spares", "a step", "efficiency", "lost"),
    *("1,000 h", "100,000 h", "coordinator", "given up"),
)


def scenarios(sizes: list[int]) -> Iterator[Scenario]:
    """Yield the clusters that are simulated, the smallest first."""
    for workers in sizes:
        for hours, spares in TROUBLES if workers > 1 else TROUBLES[:3]:
            yield Scenario(
                workers,
                servers=workers,
                spares=spares,
                hours=100_000.0 if workers > 1000 else 1000.0,
                hours_between_failures=hours,
                lease_seconds=60.0 if workers > 1000 else 10.0,
            )


def simulate(scenario: Scenario) -> Outcome:
    """Simulate a cluster."""
    return Cluster(scenario).run(SECONDS.get(scenario.workers, 300.0))


def row(outcome: Outcome) -> str:
    """Return the figures of a cluster as a row of a table."""
    scenario = outcome.scenario
    days = outcome.batches_per_second and 1 / (outcome.batches_per_second * 86400)
    a_thousand = days * 1000 * 3600 / 128
    failures = "never" if math.isinf(scenario.hours_between_failures) else f"{scenario.hours_between_failures:g} h"
    step = f"{outcome.seconds_of_a_step:.1f} s" if outcome.steps else "none ends"
    return (
        f"| {scenario.workers:,} | {failures} | {scenario.spares:.0%} | {step} "
        f"| {outcome.efficiency:.0%} | {outcome.lost_work:.1%} | {_days(a_thousand)} | {_days(100 * a_thousand)} "
        f"| {outcome.coordinator_load:.0%} | {outcome.lost_members} of {outcome.deaths} |"
    )


def _outcome(value: dict[str, Any]) -> Outcome:
    return Outcome(**{**value, "scenario": Scenario(**{**value["scenario"], "kills": ()})})


def _days(days: float) -> str:
    if not days:
        return "never"
    if days < 1 / 1440:
        return "under 1 min"
    return f"{days:,.1f} days" if days >= 1 else f"{24 * days:.1f} h" if days >= 1 / 24 else f"{1440 * days:.0f} min"


def main() -> None:
    """Simulate, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=at_least(1), nargs="+", default=list(SECONDS))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--figures", type=Path)
    options = parser.parse_args()
    if options.out and not (options.out.suffix == ".svg" and options.out.parent.is_dir()):
        parser.error(f"--out: {options.out} is not a file .svg in a folder that there is")
    if options.figures and not options.figures.parent.is_dir():
        parser.error(f"--figures: {options.figures} is not in a folder that there is")
    known: dict[str, Outcome] = {}
    if options.figures and options.figures.exists():
        try:
            outcomes = [_outcome(json.loads(line)) for line in options.figures.read_text().splitlines()]
        except (OSError, ValueError, TypeError, KeyError):
            parser.error(f"--figures: {options.figures} is not a file of such figures; choose another one")
        known = {repr(outcome.scenario): outcome for outcome in outcomes}
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    outcomes = []
    for scenario in scenarios(options.workers):
        outcome = known.get(repr(scenario)) or simulate(scenario)
        outcomes.append(outcome)
        print(row(outcome), flush=True)
        if options.figures and repr(scenario) not in known:
            with options.figures.open("a") as file:
                file.write(json.dumps(asdict(outcome)) + "\n")
    if options.out:
        draw(outcomes, options.out)


if __name__ == "__main__":
    main()
