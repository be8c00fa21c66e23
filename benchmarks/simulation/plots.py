"""Plots of simulated clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .cluster import Outcome

PLOTS: tuple[tuple[str, Callable[[Outcome], float]], ...] = (
    ("efficiency", lambda outcome: outcome.efficiency),
    ("share of the gradients that are lost", lambda outcome: outcome.lost_work),
    ("the coordinator's load", lambda outcome: outcome.coordinator_load),
)


def draw(outcomes: Sequence[Outcome], path: Path) -> None:
    """Draw each figure by the number of workers, with a line for each failure rate, into an SVG file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "scale"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(PLOTS), figsize=(12, 3.6), layout="constrained")
    troubles = list(dict.fromkeys(_trouble(outcome) for outcome in outcomes))
    for axis, (title, value) in zip(axes, PLOTS, strict=True):
        for trouble in troubles:
            points = [(each.scenario.workers, value(each)) for each in outcomes if _trouble(each) == trouble]
            axis.plot(*zip(*points, strict=True), marker="o", label=_label(*trouble))
        _label_axis(axis, title)
    axes[0].legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})


def _trouble(outcome: Outcome) -> tuple[float, float]:
    return outcome.scenario.hours_between_failures, outcome.scenario.spares


def _label(hours: float, spares: float) -> str:
    failures = "no failures" if math.isinf(hours) else f"a failure every {hours:g} h"
    return failures + (f", {spares:.0%} spare" if spares else "")


def _label_axis(axis: Any, title: str) -> None:
    axis.set(xscale="log", xlabel="workers", title=title, ylim=(0, None))
    axis.grid(visible=True, alpha=0.3)
