"""The simulated scenario: a cluster's size, the times of its parts, and how often they fail."""

import math
from dataclasses import dataclass
from functools import cached_property

BATCH_HOURS = 16 * 8 / 3600
"""Hours of speech in a batch: 16 utterances of 8 seconds."""


@dataclass(frozen=True)
class Kill:
    """The kill of a worker at a time, and its restart some seconds later."""

    at_seconds: float
    task: int
    away_seconds: float


@dataclass(frozen=True)
class Scenario:
    """A cluster and its failures. Times are in seconds; docs/scale.md says where each default was measured."""

    workers: int
    servers: int = 1
    spares: float = 0.0
    """Share of the workers whose gradients a step does not wait for: `--replicas_to_agg` is smaller by this share."""

    hours: float = 1000.0
    """Hours of speech in an epoch, in batches of BATCH_HOURS."""

    compute_seconds: float = 2.5
    """The mean time in which a worker computes the gradient of a batch."""
    straggling: float = 0.2
    """The standard deviation of the logarithm of that time from step to step, which is log-normally distributed."""

    first_step_seconds: float = 3.0
    """Additional time of a process's first step."""

    model_bytes: float = 95e6
    """Bytes that a worker reads, and sends, in each step."""
    bytes_per_second: float = 420e6
    """Throughput of a node's connection, in each direction."""
    latency_seconds: float = 0.0002
    """Latency from one node to another."""
    apply_seconds: float = 0.05
    """The time of the optimizer's step on the parameter servers."""

    request_seconds: float = 170e-6
    """The coordinator's time for a request; it answers one at a time."""
    ask_seconds: float = 60e-6
    """The coordinator's time to check one waiting request again after a change."""

    hours_between_failures: float = math.inf
    """The mean time between failures of a worker; the times are exponentially distributed."""
    hours_between_server_failures: float = math.inf
    restart_seconds: float = 60.0
    """The time from a node's end until it is back."""
    lease_seconds: float = 10.0
    checkpoint_seconds: float = 600.0
    save_seconds: float = 5.0
    load_seconds: float = 10.0
    kills: tuple[Kill, ...] = ()

    @property
    def batches(self) -> int:
        """Batches of an epoch."""
        return max(1, round(self.hours / BATCH_HOURS))

    @property
    def aggregated(self) -> int:
        """Gradients that make a step."""
        return max(1, self.workers - round(self.spares * self.workers))

    @cached_property
    def transfer_seconds(self) -> float:
        """A worker's time to read the weights, or to send a gradient, while no other worker does."""
        return self.model_bytes / self.bytes_per_second

    @cached_property
    def server_seconds(self) -> float:
        """The parameter servers' time for that: each has its share of the weights, and its own connection."""
        return self.transfer_seconds / self.servers
