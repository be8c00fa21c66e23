"""The cluster that a node belongs to."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from .rows.checks import Check, OneOf, at_least, more_than, up_to
from .rows.flag import flag

JOB_NAMES = ("localhost", "ps", "worker")
GRADIENT_TYPES = ("float32", "bfloat16")


class HostsCheck(Check):
    """Hosts, each with a port."""

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with the first host that has no address or no port."""
        for host in value:
            address, _, port = host.rpartition(":")
            if not (address and port.isdecimal() and 0 < int(port) < 65536):
                return f"--{name}: {host!r} is not a host and port, such as node1:2222"
        return ""


class ReplicasCheck(Check):
    """A number of gradients: any but 0."""

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with 0."""
        allowed = "positive, or negative: -N for N times the number of workers"
        return "" if value else f"--{name}={value}: must be {allowed}"


@dataclass(frozen=True)
class ClusterOptions:
    """The cluster that a node belongs to, and its place there; without workers, this process is not in a cluster.

    A node tries `coordinator_retries` times to reach the coordinator, every half second. The secret that the
    coordinator demands is in the environment or in `token_file`.
    """

    title: ClassVar[str] = "Cluster"
    parameter_servers: tuple[str, ...] = flag(
        (),
        "parameter servers, as host:port, separated by commas",
        name="ps_hosts",
        check=HostsCheck(),
        decides_result=False,
    )
    workers: tuple[str, ...] = flag(
        (),
        "workers, as host:port, separated by commas; the first is the chief",
        name="worker_hosts",
        check=HostsCheck(),
        decides_result=False,
    )
    job_name: str = flag(
        "localhost",
        "role of this node: ps or worker; localhost: not in a cluster",
        check=OneOf(JOB_NAMES),
        decides_result=False,
    )
    task: int = flag(
        0, "this node's place in ps_hosts or worker_hosts, from 0", name="task_index", decides_result=False
    )
    given_replicas: int = flag(
        -1,
        "gradients computed for a step; -N: N times the number of workers",
        name="replicas",
        check=ReplicasCheck(),
    )
    given_replicas_to_aggregate: int = flag(
        -1,
        "gradients that make a step; -N: N times the number of workers",
        name="replicas_to_agg",
        check=ReplicasCheck(),
    )
    gradient_type: str = flag(
        "float32",
        "type in which workers send gradients: bfloat16 halves what travels to the parameter servers",
        check=OneOf(GRADIENT_TYPES),
    )
    coordinator_host: str = flag(
        "localhost",
        "where the coordinator listens: the first worker's address",
        name="coord_host",
        decides_result=False,
    )
    coordinator_port: int = flag(
        2500,
        "the training coordinator's port",
        name="coord_port",
        check=up_to(65535, "a port, at most 65535"),
        decides_result=False,
    )
    coordinator_retries: int = flag(
        100,
        "attempts to reach the coordinator, one every half second",
        name="coord_retries",
        check=at_least(1),
        decides_result=False,
    )
    lease_seconds: float = flag(
        10.0,
        "seconds of silence after which a node's jobs go to other nodes",
        name="coord_lease_secs",
        check=more_than(0),
        decides_result=False,
    )
    token_file: Path | None = flag(
        None,
        "file with the secret of the nodes; or set DEEPSPEECH_COORD_TOKEN",
        name="coord_token_file",
        decides_result=False,
    )

    @property
    def replicas(self) -> int:
        """The number of gradients that may be computed for a step."""
        return self._times_workers(self.given_replicas)

    @property
    def replicas_to_aggregate(self) -> int:
        """The number of gradients that make a step."""
        return self._times_workers(self.given_replicas_to_aggregate)

    @property
    def is_chief(self) -> bool:
        """Whether this is the node that the coordinator runs on, the first worker."""
        return self.job_name == "worker" and self.task == 0

    def _times_workers(self, count: int) -> int:
        return count if count > 0 else -count * len(self.workers)
