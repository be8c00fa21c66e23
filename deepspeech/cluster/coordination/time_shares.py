"""What the members' time goes into, as they report it, and which of them the others wait for."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median_low

from ...util.monitoring.time_use import Activity, shares

STRAGGLER_FACTOR = 1.5
"""A worker straggles whose own part of a step takes this many times as long as that of the median worker."""


@dataclass(frozen=True)
class MemberTimes:
    """The newest minute of a member: the seconds of each activity, and the training steps and bytes meanwhile."""

    seconds: Mapping[Activity, float]
    own_seconds_of_steps: float
    """Those of the steps without waiting, and without what validation and tests took."""
    steps: int
    sent_bytes: int
    received_bytes: int

    @property
    def whole(self) -> float:
        """The seconds of all activities."""
        return sum(self.seconds.values())

    @property
    def shares(self) -> dict[str, float]:
        """The part of each activity, 0 to 1, by its name."""
        return {name: round(part, 4) for name, part in shares(self.seconds).items()}

    @property
    def own_step_seconds(self) -> float | None:
        """The seconds of a step without those that the worker waited for others; None without steps.

        In synchronous steps all workers take as long as the slowest, so that only this tells them apart.
        """
        return self.own_seconds_of_steps / self.steps if self.steps else None


def stragglers(times: Mapping[str, MemberTimes | None]) -> set[str]:
    """Return the names of the members that straggle; there are none among fewer than two that do steps."""
    own = {name: of_it.own_step_seconds for name, of_it in times.items() if of_it is not None}
    known = {name: seconds for name, seconds in own.items() if seconds is not None}
    if len(known) < 2:
        return set()
    limit = STRAGGLER_FACTOR * median_low(known.values())
    return {name for name, seconds in known.items() if seconds > limit}
