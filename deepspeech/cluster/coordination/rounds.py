"""Rounds: which gradients make a synchronous step.

A round is the coordinator's transaction around one step of the weights. A worker that is let into a round computes a
gradient, sends it to the parameter servers under the round's number, and reports it as a result: a contribution. When
a round has the number of contributions in the settings, or can get no more, the chief applies their mean and counts
their batches. If a worker is lost while it sends, the parameter servers may or may not have its gradient. Then the
chief discards the round's gradients, and their batches are handed out again. Round numbers only grow, and the parameter
servers drop gradients of earlier rounds, so a late gradient changes nothing.

The parameter servers add up everything that is sent, so no more workers may send than the round counts. Where spare
gradients are computed (`ClusterSettings.has_spares`), a worker therefore offers its gradient first, and only the number
that makes a step is accepted. Elsewhere only that number of workers is let in, and each sends while it computes.
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
    """The open round.

    `sending` maps each member whose gradient may be on the parameter servers, or on its way there, to the number of its
    job; `computing` does the same for each member that has yet to offer its gradient.
    """

    number: int
    computing: dict[str, int] = field(default_factory=dict)
    sending: dict[str, int] = field(default_factory=dict)
    contributions: list[JobResult] = field(default_factory=list)
    contributors: dict[str, int] = field(default_factory=dict)
    spoiled: bool = False
    closed: bool = False

    def next(self) -> "Round":
        """Return the round after this."""
        return Round(self.number + NUMBERS_PER_ROUND)

    def begin(self, identity: str, job: Job, settings: ClusterSettings) -> bool:
        """Let a member compute a gradient for a job; return whether it may."""
        if not self._takes(self.number):
            return False
        members = self.computing if settings.has_spares else self.sending
        if self.sending.get(identity) == job.number:
            return True
        if self._is_full(settings) or self.has_enough_of(identity, settings):
            return False
        members[identity] = job.number
        return True

    def let_send(self, identity: str, job: Job, number: int, settings: ClusterSettings) -> bool:
        """Let a member send the gradient that it has computed for round `number`; return whether it may."""
        if not self._takes(number):
            return False
        if self.sending.get(identity) == job.number:
            return True
        if self.computing.get(identity) != job.number or self._is_full(settings):
            return False
        self.sending[identity] = self.computing.pop(identity)
        return True

    def accepts(self, identity: str, job: Job, number: int | None) -> bool:
        """Return whether a member may contribute a result of the job that was computed for round `number`."""
        return self._takes(number) and self.sending.get(identity) == job.number

    def add(self, identity: str, result: JobResult) -> None:
        """Add a contribution that is accepted."""
        del self.sending[identity]
        self.contributions.append(result)
        self.contributors[identity] = self.contributors.get(identity, 0) + 1

    def drop(self, identity: str | None, job: Job) -> None:
        """Expect no gradient for a job that its holder has lost; spoil the round if the gradient may have been sent."""
        if self.computing.get(identity or "") == job.number:
            del self.computing[identity or ""]
        if self.sending.get(identity or "") == job.number:
            self.spoiled = True

    def lose(self, identity: str, settings: ClusterSettings) -> None:
        """Record that a member is lost; spoil the round if the member itself kept a gradient that it contributed."""
        self.spoiled = self.spoiled or (settings.all_reduces and identity in self.contributors)

    def has_enough_of(self, identity: str, settings: ClusterSettings) -> bool:
        """Return whether a member has contributed all gradients that it may."""
        return self.contributors.get(identity, 0) >= settings.steps_at_once

    def may_get_more_of(self, member: Member, settings: ClusterSettings, jobs_pending: bool, now: float) -> bool:
        """Return whether a further contribution of a member can be expected."""
        if not member.works or self.has_enough_of(member.identity, settings):
            return False
        prompt = now - member.asked <= settings.lease_seconds
        return bool(member.jobs) or (jobs_pending and prompt)

    def holds(self, job: Job) -> bool:
        """Return whether a result of the job was contributed."""
        return any(result.job.number == job.number for result in self.contributions)

    def close_if_due(
        self, members: Iterable[Member], settings: ClusterSettings, jobs_pending: bool, now: float
    ) -> RoundEnd | None:
        """Close the round if it is spoiled, has enough contributions or can't get more; return how it ends, or None."""
        count = 0 if self.spoiled else len(self.contributions)
        if self.closed or not (self.spoiled or count):
            return None
        more_can_come = count < settings.replicas_to_aggregate and (
            bool(self.sending or self.computing)
            or any(self.may_get_more_of(member, settings, jobs_pending, now) for member in members)
        )
        if not self.spoiled and more_can_come:
            return None
        self.closed = True
        return RoundEnd(self.number, count)

    def _takes(self, number: int | None) -> bool:
        return number == self.number and not self.closed and not self.spoiled

    def _is_full(self, settings: ClusterSettings) -> bool:
        return len(self.contributions) + len(self.sending) >= settings.replicas_to_aggregate
