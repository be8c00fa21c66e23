"""Rounds: which gradients make a synchronous step.

A round is the coordinator's transaction around one step of the weights. A worker that is let into a round computes a
gradient, hands it to the parameter servers under the round's number, and reports it as a result: a contribution. When
a round has as many contributions as are wanted, or nobody is left to wait for, the chief applies their mean and
counts their batches. If a worker is lost in the middle of it, so that its gradient may be there or not, the chief
throws the round's gradients away and their batches are handed out again. Numbers only grow, and the parameter servers
drop gradients of earlier ones: what comes late changes nothing.
"""

from dataclasses import dataclass, field

from ...schedule.jobs import Job, JobResult
from .membership import ClusterSettings, Member

NUMBERS_PER_ROUND = 2
"""Taking gradients out moves a parameter server's own number on by one, so rounds are two apart."""


@dataclass
class Lease:
    """A job in the hands of a member, or of nobody if that was lost after it contributed.

    `taken` of its batches were handed in, though some of them may wait for the round's end to be counted.
    """

    job: Job
    holder: str | None
    taken: int = 0

    def fits(self, result: JobResult, batch_size: int) -> bool:
        """Whether a result is of the job's next batches, and of as many utterances as those can have."""
        count = len(result.batches)
        is_next = result.batches == self.job.batches[self.taken : self.taken + count]
        return is_next and 0 < count <= result.tally.utterances <= count * batch_size


@dataclass
class Round:
    """The round that is open. `begun` are the members that compute a gradient for it."""

    number: int
    begun: dict[str, int] = field(default_factory=dict)
    contributions: list[JobResult] = field(default_factory=list)
    contributors: dict[str, int] = field(default_factory=dict)
    spoiled: bool = False
    closed: bool = False

    def next(self) -> "Round":
        """The round after this."""
        return Round(self.number + NUMBERS_PER_ROUND)

    def accepts(self, identity: str, job: Job, number: int | None) -> bool:
        """Whether a member may contribute a result of the job that was computed for round `number`."""
        open_still = number == self.number and not self.closed and not self.spoiled
        return open_still and self.begun.get(identity) == job.number

    def add(self, identity: str, result: JobResult) -> None:
        """Take a contribution that is accepted."""
        del self.begun[identity]
        self.contributions.append(result)
        self.contributors[identity] = self.contributors.get(identity, 0) + 1

    def has_enough_of(self, identity: str, settings: ClusterSettings) -> bool:
        """Whether a member has contributed all that it may."""
        return self.contributors.get(identity, 0) >= settings.steps_at_once

    def may_get_more_of(self, member: Member, settings: ClusterSettings, jobs_pending: bool, now: float) -> bool:
        """Whether a further contribution of a member can be expected."""
        if not member.works or self.has_enough_of(member.identity, settings):
            return False
        prompt = now - member.asked <= settings.lease_seconds
        return member.identity in self.begun or bool(member.jobs) or (jobs_pending and prompt)

    def holds(self, job: Job) -> bool:
        """Whether a result of the job was contributed."""
        return any(result.job.number == job.number for result in self.contributions)


@dataclass(frozen=True)
class RoundEnd:
    """What the chief shall do with a closed round's gradients: apply so many, or throw them away if `count` is 0."""

    number: int
    count: int
