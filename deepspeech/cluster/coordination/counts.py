"""The counters of a coordinator."""

from dataclasses import dataclass


@dataclass
class Counts:
    """The numbers of events since the coordinator was started."""

    jobs: int = 0
    results: int = 0
    refusals: int = 0
    lost_members: int = 0
    lost_jobs: int = 0
    steps: int = 0
