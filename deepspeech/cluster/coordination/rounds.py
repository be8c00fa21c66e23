"""Rounds: which gradients make a synchronous step.

A round is the coordinator's transaction around one step of the weights. A worker that is let into a round computes a
gradient, sends it to the parameter servers under the round's number, and reports it as a result: a contribution. When
a round has as many contributions as the settings ask for, or no more can come, the chief applies their mean and counts
their batches. If a worker is lost while it computes, so that its gradient may be there or not, the chief discards the
round's gradients and their batches are handed out again. Numbers only grow, and the parameter servers drop gradients
of earlier rounds, so a gradient that comes late changes nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...schedule.jobs import Job, JobResult
from .membership import ClusterSettings, Member

NUMBERS_PER_ROUND = 2
"""Rounds are two apart, because a parameter server adds one to its own number when gradients are taken out."""


@dataclass(frozen=True)
class RoundEnd:
    """How a closed round ends: the chief applies the mean of `count` gradients, or discards them if `count` is 0."""

    number: int
    count: int


@dataclass
class Round:
    """The round that is open. `begun` maps each member that computes a gradient for it to the number of its job."""

    number: int
    begun: dict[str, int] = field(default_factory=dict)
    contributions: list[JobResult] = field(default_factory=list)
    contributors: dict[str, int] = field(default_factory=dict)
    spoiled: bool = False
    closed: bool = False

    def next(self) -> "Round":
        """Return the round after this."""
        return Round(self.number + NUMBERS_PER_ROUND)

    def accepts(self, identity: str, job: Job, number: int | None) -> bool:
        """Tell whether a member may contribute a result of the job that was computed for round `number`."""
        open_still = number == self.number and not self.closed and not self.spoiled
        return open_still and self.begun.get(identity) == job.number

    def add(self, identity: str, result: JobResult) -> None:
        """Take a contribution that is accepted."""
        del self.begun[identity]
        self.contributions.append(result)
        self.contributors[identity] = self.contributors.get(identity, 0) + 1

    def has_enough_of(self, identity: str, settings: ClusterSettings) -> bool:
        """Tell whether a member has contributed all that it may."""
        return self.contributors.get(identity, 0) >= settings.steps_at_once

    def may_get_more_of(self, member: Member, settings: ClusterSettings, jobs_pending: bool, now: float) -> bool:
        """Tell whether a further contribution of a member can be expected."""
        if not member.works or self.has_enough_of(member.identity, settings):
            return False
        prompt = now - member.asked <= settings.lease_seconds
        return member.identity in self.begun or bool(member.jobs) or (jobs_pending and prompt)

    def holds(self, job: Job) -> bool:
        """Tell whether a result of the job was contributed."""
        return any(result.job.number == job.number for result in self.contributions)

    def close_if_due(
        self, members: Iterable[Member], settings: ClusterSettings, jobs_pending: bool, now: float
    ) -> RoundEnd | None:
        """Close the round if it is spoiled, has enough contributions or can't get more, and return how it ends."""
        count = 0 if self.spoiled else len(self.contributions)
        if self.closed or not (self.spoiled or count):
            return None
        if 0 < count < settings.replicas_to_aggregate and any(
            self.may_get_more_of(member, settings, jobs_pending, now) for member in members
        ):
            return None
        self.closed = True
        return RoundEnd(self.number, count)
