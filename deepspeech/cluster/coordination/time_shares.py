"""The time use that members report, and the stragglers that the other members wait for."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median_low

from ...util.monitoring.time_use import Activity, shares

STRAGGLER_FACTOR = 1.5
"""A worker straggles if its own part of a step takes more than this many times the median worker's."""


@dataclass(frozen=True)
class MemberTimes:
    """A member's last minute: the seconds of each activity, and the training steps and bytes in that time."""

    seconds: Mapping[Activity, float]
    own_seconds_of_steps: float
    """The seconds of the training steps without waiting; validation and tests are not included."""
    steps: int
    sent_bytes: int
    received_bytes: int

    @property
    def whole(self) -> float:
        """The seconds of all activities."""
        return sum(self.seconds.values())

    @property
    def shares(self) -> dict[str, float]:
        """The share of each activity, 0 to 1, by its name."""
        return {name: round(part, 4) for name, part in shares(self.seconds).items()}

    @property
    def own_step_seconds(self) -> float | None:
        """The mean seconds of a step, without waiting for others; None without steps.

        In synchronous steps, all workers take as long as the slowest, so only this figure shows which one is slow.
        """
        return self.own_seconds_of_steps / self.steps if self.steps else None


def stragglers(times: Mapping[str, MemberTimes | None]) -> set[str]:
    """Return the names of the members that straggle; this needs at least two members that do steps."""
    own = {name: of_it.own_step_seconds for name, of_it in times.items() if of_it is not None}
    known = {name: seconds for name, seconds in own.items() if seconds is not None}
    if len(known) < 2:
        return set()
    limit = STRAGGLER_FACTOR * median_low(known.values())
    return {name for name, seconds in known.items() if seconds > limit}
