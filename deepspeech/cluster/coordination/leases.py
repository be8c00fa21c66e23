"""Leases: which member holds which job, and how much of it is done."""

from dataclasses import dataclass

from ...schedule.jobs import Job, JobResult
from ...schedule.state import Plan
from .counts import Counts
from .errors import JobLostError, ResultMismatchError
from .membership import Member, Members


@dataclass
class Lease:
    """A job and the member that holds it; `holder` is None if that member was lost after it contributed.

    `taken` is how many of its batches have results; those of training are counted when the round ends.
    """

    job: Job
    holder: str | None
    taken: int = 0

    def fits(self, result: JobResult, batch_size: int) -> bool:
        """Return whether a result is of the job's next batches, with a possible number of utterances for them."""
        count = len(result.batches)
        is_next = result.batches == self.job.batches[self.taken : self.taken + count]
        return is_next and 0 < count <= result.tally.utterances <= count * batch_size


class Leases:
    """The jobs that are handed out."""

    def __init__(self, members: Members, counts: Counts) -> None:
        """Begin without leases; refusals are counted."""
        self._members = members
        self._counts = counts
        self._leases: dict[int, Lease] = {}

    def grant(self, job: Job, member: Member) -> None:
        """Lease a job to a member."""
        self._members.hold(member, job)
        self._leases[job.number] = Lease(job, member.identity)
        self._counts.jobs += 1

    def of(self, identity: str, number: int) -> Lease:
        """Return a member's lease; raises JobLostError if it does not hold the job (any more)."""
        lease = self._leases.get(number)
        member = self._members.find(identity)
        if lease is None or lease.holder != identity or member is None or number not in member.jobs:
            self._counts.refusals += 1
            raise JobLostError(f"job {number} is not this member's")
        return lease

    def check(self, lease: Lease, result: JobResult, plan: Plan | None) -> None:
        """Raise ResultMismatchError unless a result is of the lease's next batches; `plan` is that of its set."""
        if plan is None or not lease.fits(result, plan.batch_size):
            self._counts.refusals += 1
            raise ResultMismatchError(f"job {lease.job.number}: the result is not one of the job's next batches")

    def find(self, number: int) -> Lease | None:
        """Return the lease of a job, whichever member holds it."""
        return self._leases.get(number)

    def take_from_holder(self, lease: Lease) -> None:
        """Take the job from its holder."""
        holder = self._members.find(lease.holder)
        if holder is not None:
            self._members.release(holder, lease.job.number)

    def end(self, number: int) -> None:
        """Forget the lease of a job."""
        self._leases.pop(number, None)

    def clear(self) -> None:
        """Forget all leases."""
        self._leases.clear()
