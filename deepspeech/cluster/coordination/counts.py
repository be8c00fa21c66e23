"""What a coordinator counts."""

from dataclasses import dataclass


@dataclass
class Counts:
    """What has happened since the coordinator was started."""

    jobs: int = 0
    results: int = 0
    refusals: int = 0
    lost_members: int = 0
    lost_jobs: int = 0
    steps: int = 0
