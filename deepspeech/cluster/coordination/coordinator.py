"""The state machine of a cluster: which worker has which jobs. It does no I/O; times are arguments, in seconds.

Jobs are leases. A worker holds its jobs as long as it gives signs of life. A worker that falls silent is no longer a
member: its jobs are handed out again, and results that it submits later are refused. Every training step belongs to a
round (see `rounds`). `training` is the source of jobs; it is None until the chief opens it, and while the chief waits
for parameter servers.
"""

import logging
from collections import deque
from collections.abc import Collection, Mapping
from typing import NoReturn

from ...schedule.coordinator import NoJob, TrainingCoordinator
from ...schedule.jobs import EpochReport, Job, JobResult, SetName, Tally
from ...schedule.state import Figures
from ...util.files.whole_files import encoded
from .chronicle import Chronicle
from .counts import Counts
from .errors import JobLostError, TrainingFailedError, TrainingStoppedError
from .group import Group
from .leases import Lease, Leases
from .membership import Applicant, ClusterSettings, Member, Members, Role
from .rounds import Round, RoundEnd
from .shutdown import Shutdown

traffic = logging.getLogger("deepspeech.traffic")


class ClusterCoordinator:
    """Members, leases and rounds around a `TrainingCoordinator`."""

    def __init__(
        self, settings: ClusterSettings, required: Mapping[Role, Mapping[str, str]], *, first_round: int = 0
    ) -> None:
        """Begin without members, which must have the `required` properties, and with round number `first_round`."""
        self.settings = settings
        self.members = Members(settings, required)
        self.group = Group(self.members, settings)
        self.counts = Counts()
        self.chronicle = Chronicle()
        self.training: TrainingCoordinator | None = None
        self.history: tuple[Figures, ...] = ()
        self.over = False
        self.shutdown = Shutdown(settings, self.members)
        self.failure: str | None = None
        self.stopped = False
        self.trouble: str | None = None
        self._leases = Leases(self.members, self.counts)
        self._round = Round(first_round)
        self._reports: deque[EpochReport] = deque()
        self._testing_allowed = False
        self.opened: tuple[float, int] | None = None

    # Members

    def join(self, applicant: Applicant, now: float) -> str:
        """Take a process in and return its identity; raises JoinRefusedError."""
        self.check_failure()
        self.members.check(applicant)
        before = self.members.namesake(applicant)
        if before is not None:
            replaced = before.applicant.process != applicant.process  # else its answer was lost, and it asks again
            self._lose(before, now, "was replaced" if replaced else "", replaced=replaced)
        return self.members.add(applicant, now).identity

    def heartbeat(self, identity: str, now: float, *, must_go: bool = False) -> bool:
        """Record a sign of life; return whether a parameter server may end. With `must_go`, it was told to stop.

        Raises NotMemberError, TrainingFailedError or TrainingStoppedError.
        """
        member = self._member(identity, now)
        member.must_go = member.must_go or must_go
        nothing_to_save = member.must_go and self.training is None
        return member.may_go or nothing_to_save or self.shutdown.servers_may_stop

    def leave(self, identity: str, now: float, failure: str | None = None) -> None:
        """Remove a member and hand its jobs out again; with a failure, training ends for good."""
        member = self._member(identity, now)
        self._lose(member, now, f"left{'' if failure is None else f': {failure}'}")
        if self.over:
            self.shutdown.note_leave(member)
        if failure is not None:
            self.fail(f"{member.applicant.name}: {failure}")

    def tick(self, now: float) -> None:
        """Remove members that were silent or busy for too long."""
        for member in self.members.lost(now):
            self.counts.lost_members += 1
            self._lose(member, now, "was lost: no sign of life, or no result for too long")

    # Jobs

    def next_job(self, identity: str, now: float, known: Collection[int] | None = None) -> Job | NoJob:
        """Lease a job to a member; raises NotMemberError or TrainingFailedError.

        `known` are the numbers of the jobs that the member knows it holds, None for all. A job missing there, because
        the answer was lost, is returned again.
        """
        member = self._member(identity, now, asks=True)
        for number, held in member.jobs.items():
            if known is not None and number not in known:
                return held
        training = self.training
        waits = not self.over and (self.members.are_too_few or not self.group.may_work(identity))
        if training is None or waits or (training.training_is_over and not self._testing_allowed):
            return NoJob.WAIT
        if member.jobs and self.members.somebody_is_idle:
            return NoJob.WAIT  # an idle member can begin a job at once, which this one would only prepare ahead
        job = training.next_job(member.last_job, self.members.last_jobs_of_others(member))
        if isinstance(job, Job):
            self._leases.grant(job, member)
        elif job is NoJob.OVER:
            self.over, self.trouble = True, None  # no remaining work needs a server
        return job

    def return_jobs(self, identity: str, numbers: list[int], now: float) -> None:
        """Take back jobs that a member won't finish; numbers of jobs that aren't its own are ignored."""
        member = self._member(identity, now)
        for number in numbers:
            if number in member.jobs:
                self._drop(self._leases.of(identity, number))

    def begin_step(self, identity: str, number: int, now: float) -> int | None:
        """Return the round for which a member computes a gradient, or None if it must wait. Raises JobLostError."""
        self._member(identity, now, asks=True)
        lease = self._leases.of(identity, number)
        trains = lease.job.set_name is SetName.TRAIN and self.group.may_work(identity)
        return self._round.number if trains and self._round.begin(identity, lease.job, self.settings) else None

    def offer_gradient(self, identity: str, number: int, round_number: int, now: float) -> None:
        """Let a member send the gradient that it has computed for a round; raises JobLostError if the round has enough.

        Gradients need to be offered only where spare ones are computed.
        """
        self._member(identity, now, asks=True)
        lease = self._leases.of(identity, number)
        if not self._round.let_send(identity, lease.job, round_number, self.settings):
            self._refuse_late(lease)

    def submit(
        self,
        identity: str,
        number: int,
        batches: tuple[int, ...],
        tally: Tally,
        *,
        last: bool,
        round_number: int | None,
        now: float,
    ) -> None:
        """Take a result; training results are counted when their round ends. Raises JobLostError, counting nothing."""
        member = self._member(identity, now)
        lease = self._leases.of(identity, number)
        result = JobResult(lease.job, batches, tally, last)
        plan = self.training.plan_of(lease.job.set_name) if self.training is not None else None
        self._leases.check(lease, result, plan)
        if lease.job.set_name is SetName.TRAIN:
            if not self._round.accepts(identity, lease.job, round_number):
                self._refuse_late(lease)
            self._round.add(identity, result)
        else:
            self._count(result)
        lease.taken += len(batches)
        self.members.finished(member, result, now)
        self.members.heard(identity, now, asks=True)
        if last or lease.taken == len(lease.job.batches):
            self.members.release(member, number)
            if lease.job.set_name is not SetName.TRAIN:
                self._leases.end(number)
        self.counts.results += 1

    # For the chief

    def open(self, training: TrainingCoordinator, now: float = 0.0) -> None:
        """Begin to hand out jobs; the weights must be those that `training` starts from."""
        self.training = training
        self.opened = (now, training.batches_left)
        self.history = training.state_without_epoch.history
        self.trouble = None
        self._testing_allowed = False

    def suspend(self) -> None:
        """Discard everything since the last checkpoint; workers must join again, after training is reopened."""
        self.training = None
        for worker in (member for member in self.members if member.works):
            self.members.remove(worker)
        self._leases.clear()
        self._reports.clear()
        self._round = self._round.next()

    def allow_testing(self) -> None:
        """Hand out test jobs from now on; the weights to test with must be loaded."""
        self._testing_allowed = True

    def fail(self, reason: str) -> None:
        """End training for good; every member's next request gets the reason."""
        self.failure = self.failure or encoded(reason).decode()

    def stop(self, reason: str) -> None:
        """End training until the same commands are run again; every member's next request gets the reason."""
        self.fail(reason)
        self.stopped = True

    @property
    def round_number(self) -> int:
        """The number of the open round."""
        return self._round.number

    @property
    def has_reports(self) -> bool:
        """Whether there are reports of finished epochs that the chief hasn't taken."""
        return bool(self._reports)

    def take_reports(self) -> list[EpochReport]:
        """Return the reports of the epochs that were finished since the last call."""
        reports, self._reports = list(self._reports), deque()
        return reports

    def close_round(self, now: float) -> RoundEnd | None:
        """Close the round if it is due, unless reports wait to be taken: they belong to the current weights."""
        if self.training is None or self._reports:
            return None
        return self._round.close_if_due(self.members, self.settings, bool(self.training.pending), now)

    def spoil_round(self) -> None:
        """Have the open round discarded, because its gradients do not belong to the current weights."""
        self._round.spoiled = True

    def end_round(self, end: RoundEnd) -> int:
        """Count the closed round's batches if its gradients were applied; if discarded, hand them out again.

        Return the number of utterances in the round's contributions.
        """
        finished, self._round = self._round, self._round.next()
        if end.count:
            for result in finished.contributions:
                self._count(result)
            self.counts.steps += 1
        for result in finished.contributions:
            if (lease := self._leases.find(result.job.number)) is None:
                continue
            if end.count == 0 or lease.holder not in self.members:
                self._release(lease)
            elif result.last or lease.taken == len(result.job.batches):
                self._leases.end(result.job.number)
        return sum(result.tally.utterances for result in finished.contributions)

    def check_failure(self) -> None:
        """Raise TrainingFailedError or TrainingStoppedError if training has failed or was stopped."""
        if self.failure is not None:
            raise (TrainingStoppedError if self.stopped else TrainingFailedError)(self.failure)

    # Details

    def _member(self, identity: str, now: float, *, asks: bool = False) -> Member:
        self.check_failure()
        return self.members.heard(identity, now, asks=asks)

    def _refuse_late(self, lease: Lease) -> NoReturn:
        self.counts.refusals += 1
        self._drop(lease)
        raise JobLostError(f"job {lease.job.number}: its step came too late for the round")

    def _count(self, result: JobResult) -> None:
        assert self.training is not None
        report = self.training.submit(result)
        job = result.job
        traffic.info("counted: %s set, epoch %d, batches %s", job.set_name.value, job.epoch + 1, list(result.batches))
        if report is not None:
            self.history = self.training.state_without_epoch.history
            self._reports.append(report)

    def _drop(self, lease: Lease) -> None:
        """Take a job from its holder. Its batches are handed out again now, or when a round with some of them ends."""
        self._leases.take_from_holder(lease)
        self._round.drop(lease.holder, lease.job)
        lease.holder = None
        if not self._round.holds(lease.job):
            self._release(lease)

    def _release(self, lease: Lease) -> None:
        """Hand a job's uncounted batches out again."""
        self._leases.take_from_holder(lease)
        self._leases.end(lease.job.number)
        if self.training is not None:
            self.training.give_back(lease.job)

    def _lose(self, member: Member, now: float, why: str, *, replaced: bool = False) -> None:
        if why:
            self.chronicle.note(now, f"{member.applicant.name} {why}")
        for number in reversed(list(member.jobs)):
            self.counts.lost_jobs += 1
            self._drop(self._leases.of(member.identity, number))
        self.members.remove(member, replaced=replaced)
        self._round.lose(member.identity, self.settings)
        if why and not member.works and not self.over and self.training is not None:
            self.trouble = f"{member.applicant.name} was lost"
