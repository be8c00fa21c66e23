"""How long a worker may be busy with a job before it counts as hung; this depends on the times of similar jobs."""

import math
from collections.abc import Iterable

from ...schedule.jobs import Job, SetName

FIRST_JOB_SECONDS = 600.0
"""Seconds that a worker may take for a job before any worker has finished one of its kind."""

SHORTEST_LIMIT_SECONDS = 60.0
"""Seconds that a worker may always take for a job, even if others were much faster."""

SLOWNESS_ALLOWED = 10
"""Limit for a job, as a multiple of the longest time that a job of its kind has taken so far."""


class Pace:
    """The slowest job so far of each kind: of each set, with and without decoding, which takes additional time."""

    def __init__(self) -> None:
        """Begin before any job is finished."""
        self._slowest: dict[tuple[SetName, bool], float] = {}

    def note(self, job: Job, seconds: float) -> None:
        """Record the time that a worker took for a job, or for a part of it."""
        kind = job.set_name, job.report
        self._slowest[kind] = max(self._slowest.get(kind, 0.0), seconds)

    def limit(self, jobs: Iterable[Job]) -> float:
        """Return the seconds that a worker may be busy with jobs of one epoch; infinite without jobs."""
        job = next(iter(jobs), None)
        if job is None:
            return math.inf
        slowest = self._slowest.get((job.set_name, job.report))
        return FIRST_JOB_SECONDS if slowest is None else max(SHORTEST_LIMIT_SECONDS, SLOWNESS_ALLOWED * slowest)
