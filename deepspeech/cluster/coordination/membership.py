"""The members of a cluster: workers and parameter servers, as the coordinator sees them."""

import secrets
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from ...schedule.jobs import Job, JobResult
from .errors import REPLACED, JoinRefusedError, NotMemberError, ReplacedError
from .pace import Pace
from .places import FreePlaces, Successions
from .time_shares import MemberTimes

RECENT_RESULTS = 64
"""Number of recent results over which a member's throughput is measured."""

SIGNS_PER_SECOND = 1000
"""Most signs of life a second from all members together, to limit the coordinator's load."""

LEAST_HELD_UP = 0.5
"""Seconds between two checks for lost members from which on this process may have been suspended."""


class Role(str, Enum):
    """What a process does in the cluster; the value is its name in JSON and in `--job_name`."""

    WORKER = "worker"
    PARAMETER_SERVER = "ps"


@dataclass(frozen=True)
class Applicant:
    """A process that wants to join.

    `process` is random and distinguishes a restarted process from the one before. `properties` describe what it works
    with (model, corpus, code …); they must equal the chief's. `address` is where parameter servers reach it, as
    HOST:PORT, if they cannot know it from their flags.
    """

    role: Role
    task: int
    process: str
    properties: Mapping[str, str] = field(default_factory=dict)
    address: str = ""

    @property
    def name(self) -> str:
        """Its name for people, such as "worker 1"."""
        return f"{self.role.value} {self.task}"


@dataclass
class Member:
    """A process that has joined. `seen` and `asked` are the times of its last sign of life and request for work.

    A parameter server that was told to stop has `must_go` set, and `may_go` once its weights are saved.
    """

    identity: str
    applicant: Applicant
    seen: float
    asked: float
    must_go: bool = False
    may_go: bool = False
    jobs: dict[int, Job] = field(default_factory=dict)
    last_job: Job | None = None
    results: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=RECENT_RESULTS))
    times: MemberTimes | None = None

    @property
    def works(self) -> bool:
        """Whether it does jobs."""
        return self.applicant.role is Role.WORKER

    def throughput(self, now: float) -> float:
        """Return the utterances a second over its recent results."""
        if not self.results:
            return 0.0
        seconds = now - self.results[0][0]
        return sum(count for _, count in list(self.results)[1:]) / seconds if seconds > 0 else 0.0


@dataclass(frozen=True)
class ClusterSettings:
    """A cluster's size and rules.

    * `replicas` gradients may be computed for each step, and `replicas_to_aggregate` of them make it.
    * A member that gives no sign of life for `lease_seconds` is lost.
    * Where workers come and go, `workers` is their greatest number, and jobs are handed out while there are at least
      `least_workers`; else `least_workers` is 0.
    * With `all_reduces`, every worker holds the weights and keeps its gradients until a step is made, and there are no
      parameter servers.
    """

    workers: int
    parameter_servers: int
    replicas: int
    replicas_to_aggregate: int
    lease_seconds: float = 10.0
    least_workers: int = 0
    all_reduces: bool = False

    @property
    def has_spares(self) -> bool:
        """Whether more gradients are computed for a step than it uses, so that it does not wait for the slowest."""
        return self.replicas > self.replicas_to_aggregate

    @property
    def seconds_between_signs(self) -> float:
        """Seconds between a member's signs of life: one; more in a cluster of thousands, less with a short lease."""
        return min(self.lease_seconds / 4, max(1.0, (self.workers + self.parameter_servers) / SIGNS_PER_SECOND))

    @property
    def steps_at_once(self) -> int:
        """How many gradients of one step a worker may contribute."""
        return max(1, -(-max(self.replicas, self.replicas_to_aggregate) // self.workers))


def difference(required: Mapping[str, str], offered: Mapping[str, str]) -> str | None:
    """Return the first property that differs, in words, or None if all agree."""
    for name, value in required.items():
        if offered.get(name) != value:
            return f"its {name} is {offered.get(name, 'unknown')}, the chief's {value}"
    return None


class Members:
    """The processes that have joined, and the time of each one's last sign of life."""

    def __init__(self, settings: ClusterSettings, required: Mapping[Role, Mapping[str, str]]) -> None:
        """Begin without members; those of a role must have its `required` properties."""
        self._settings = settings
        self._required = required
        self._members: dict[str, Member] = {}
        self.workers = 0
        """The number of workers."""
        self.lost_servers: dict[int, float] = {}
        """For each parameter server that has left or was lost and is not back, by place: its last sign of life."""
        self._identities: dict[str, str] = {}
        self._idle: set[str] = set()
        self._replaced: deque[str] = deque(maxlen=1000)
        self._successions = Successions()
        self._free_places = FreePlaces(settings.workers)
        self._pace = Pace()
        self._last_result: float | None = None
        self._last_look: float | None = None

    def __iter__(self) -> Iterator[Member]:
        return iter(list(self._members.values()))

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, identity: object) -> bool:
        return identity in self._members

    def check(self, applicant: Applicant) -> None:
        """Raise JoinRefusedError if a process does not fit, and ReplacedError if a later one has taken its place."""
        self._free_places.end_reservation(applicant.process)
        places = self._settings.workers if applicant.role is Role.WORKER else self._settings.parameter_servers
        if not 0 <= applicant.task < places:
            raise JoinRefusedError(f"{applicant.name} is one too many: the chief expects {places}")
        differs = difference(self._required.get(applicant.role, {}), applicant.properties)
        if differs is not None:
            raise JoinRefusedError(
                f"{applicant.name} does not fit: {differs}; "
                "give every node the same version of this program, the same flags and the same files"
            )
        there = self.namesake(applicant)
        if there is not None and self._successions.is_before(applicant.process, there.applicant.process):
            raise ReplacedError(REPLACED)

    def namesake(self, applicant: Applicant) -> Member | None:
        """Return the member that the applicant replaces: one with the same role and task."""
        return self.find(self._identities.get(applicant.name))

    def take_place(self, process: str, now: float) -> int | None:
        """Return a place at which a worker without one may join, or None while no place is free."""
        return self._free_places.take(process, {member.applicant.task for member in self if member.works}, now)

    def address_of_worker(self, task: int) -> str | None:
        """Return the address that a worker announced when it joined, as HOST:PORT; None if there is none."""
        member = self.namesake(Applicant(Role.WORKER, task, ""))
        return member.applicant.address or None if member else None

    def add(self, applicant: Applicant, now: float) -> Member:
        """Add a process as a member."""
        member = Member(secrets.token_hex(12), applicant, now, now)
        self._members[member.identity] = member
        self.workers += member.works
        if not member.works:
            self.lost_servers.pop(applicant.task, None)
        self._identities[applicant.name] = member.identity
        self._successions.note(applicant.process)
        self._note_whether_idle(member)
        return member

    def remove(self, member: Member, *, replaced: bool = False) -> None:
        """Remove a member; remember it if another process has `replaced` it."""
        if self._members.pop(member.identity, None) is not None:
            self.workers -= member.works
            if not member.works:
                self.lost_servers[member.applicant.task] = member.seen
        self._idle.discard(member.identity)
        if replaced:
            self._replaced.append(member.identity)

    def hold(self, member: Member, job: Job) -> None:
        """Record that a member holds a job."""
        member.jobs[job.number] = member.last_job = job
        self._note_whether_idle(member)

    def release(self, member: Member, number: int) -> None:
        """Record that a member no longer holds a job."""
        member.jobs.pop(number, None)
        self._note_whether_idle(member)

    def find(self, identity: str | None) -> Member | None:
        """Return a member, or None, without recording a sign of life."""
        return self._members.get(identity or "")

    def heard(self, identity: str, now: float, *, asks: bool = False) -> Member:
        """Record a sign of life and, with `asks`, a request for work. Raises NotMemberError or ReplacedError."""
        member = self._members.get(identity)
        if member is None:
            if identity in self._replaced:
                raise ReplacedError(REPLACED)
            raise NotMemberError("not a member; join first, or again")
        member.seen = now
        if asks:
            member.asked = now
        return member

    def finished(self, member: Member, result: JobResult, now: float) -> None:
        """Record a member's result; call this before `heard` records a new request for work."""
        self._pace.note(result.job, now - member.asked)
        member.results.append((now, result.tally.utterances))
        self._last_result = now

    def look(self, now: float) -> None:
        """Do not count the time since the last call if it was so long that this process was suspended."""
        gap = 0.0 if self._last_look is None else now - self._last_look
        if gap > max(self._settings.lease_seconds / 2, LEAST_HELD_UP):
            for member in self:
                member.seen, member.asked = member.seen + gap, member.asked + gap
            self.lost_servers = {task: seen + gap for task, seen in self.lost_servers.items()}
        self._last_look = now

    def lost(self, now: float) -> list[Member]:
        """Return the members that were silent for longer than a lease, or busy for longer than their limit."""
        self.look(now)
        lease, limit = self._settings.lease_seconds, self._pace.limit
        return [each for each in self if now - each.seen > lease or now - each.asked > limit(each.jobs.values())]

    def missing(self, role: Role) -> list[int]:
        """Return the tasks of the role whose processes have not joined or were lost, up to the least number of them.

        A parameter server that must go counts as missing, because its weights will be gone.
        """
        places = self._settings.workers if role is Role.WORKER else self._settings.parameter_servers
        least = self._settings.least_workers if role is Role.WORKER else 0
        present = {member.applicant.task for member in self if member.applicant.role is role and not member.must_go}
        absent = [task for task in range(places) if task not in present]
        return absent[: max(least - len(present), 0)] if least else absent

    @property
    def are_too_few(self) -> bool:
        """Whether there are fewer workers than the least number, where workers come and go."""
        return bool(self._settings.least_workers) and self.workers < self._settings.least_workers

    @property
    def somebody_is_idle(self) -> bool:
        """Whether a worker has no job."""
        return bool(self._idle)

    def last_jobs_of_others(self, member: Member) -> Iterator[Job]:
        """Yield the last job of each other worker that has had a job."""
        return (each.last_job for each in self._members.values() if each is not member and each.last_job is not None)

    @property
    def that_must_go(self) -> list[str]:
        """The names of the parameter servers that were told to stop and whose weights are not saved yet."""
        return [member.applicant.name for member in self if member.must_go and not member.may_go]

    def let_go(self) -> None:
        """Let the parameter servers that were told to stop end: their weights are saved."""
        for member in self:
            member.may_go = member.must_go

    def stalled_for(self, now: float) -> float:
        """Return the seconds since any member's last result; 0 before the first."""
        return 0.0 if self._last_result is None else max(now - self._last_result, 0.0)

    def _note_whether_idle(self, member: Member) -> None:
        if member.works and not member.jobs and member.identity in self._members:
            self._idle.add(member.identity)
        else:
            self._idle.discard(member.identity)
