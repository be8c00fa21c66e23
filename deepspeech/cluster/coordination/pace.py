"""How long a worker may be busy with a job until it is taken for hung, from how long jobs of the same kind took."""

import math
from collections.abc import Iterable

from ...schedule.jobs import Job, SetName

FIRST_JOB_SECONDS = 600.0
"""Seconds that a worker may take for a job before any worker has finished one of its kind."""

SHORTEST_LIMIT_SECONDS = 60.0
"""Seconds that a worker may always take for a job, however fast the others were."""

SLOWNESS_ALLOWED = 10
"""How many times as long as the slowest job of its kind so far a worker may take for one."""


class Pace:
    """The slowest job so far of each set, and of its reports: what is decoded has another pace than training."""

    def __init__(self) -> None:
        """Begin before any job is finished."""
        self._slowest: dict[tuple[SetName, bool], float] = {}

    def note(self, job: Job, seconds: float) -> None:
        """Note that a worker took so long for a job, or for a part of it."""
        kind = job.set_name, job.report
        self._slowest[kind] = max(self._slowest.get(kind, 0.0), seconds)

    def limit(self, jobs: Iterable[Job]) -> float:
        """Return the seconds that a worker may be busy with jobs, which are of one epoch; infinite without jobs."""
        job = next(iter(jobs), None)
        if job is None:
            return math.inf
        slowest = self._slowest.get((job.set_name, job.report))
        return FIRST_JOB_SECONDS if slowest is None else max(SHORTEST_LIMIT_SECONDS, SLOWNESS_ALLOWED * slowest)
