"""The cluster that a node belongs to."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any, ClassVar

from .rows.checks import Check, OneOf, at_least, more_than, up_to
from .rows.flag import flag

TOKEN_VARIABLE = "DEEPSPEECH_COORD_TOKEN"  # noqa: S105 - the name of an environment variable

JOB_NAMES = ("localhost", "ps", "worker")
GRADIENT_TYPES = ("float32", "bfloat16")

PARAMETER_SERVERS, ALL_REDUCE = "ps", "allreduce"
"""The values of `--sync`: the weights are on parameter servers, or on every worker."""

SCHEDULERS = ("tf_config", "jobset", "indexed_job", "slurm")
"""The schedulers whose environment variables give a process its place in a cluster."""

ANNOUNCED = ("auto",)
"""The value of `worker_hosts` if each worker reports its own address to the coordinator."""

ANY_PLACE = -1
"""The value of `task_index` of a worker that takes any free place."""


class HostsCheck(Check):
    """Hosts, each with a port; or auto, if they `may_be_announced`."""

    def __init__(self, *, may_be_announced: bool = False) -> None:
        self._may_be_announced = may_be_announced

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with the first host that has no address or no port, or that is given twice."""
        wrong = "" if self._may_be_announced and value == ANNOUNCED else wrong_host(value)
        return f"--{name}: {wrong}" if wrong else ""


def wrong_host(hosts: Sequence[str]) -> str:
    """Return what is wrong with the first host that has no address or no port, or that is given twice."""
    known = set[str]()
    for host in hosts:
        address, _, port = host.rpartition(":")
        if _is_port(port) and _is_ipv6(address):
            return f"{host!r} has an IPv6 address without brackets; write [{address}]:{port}"
        if not (_is_port(port) and _can_have_port(address)):
            return f"{host!r} is not a host and port, such as node1:2222"
        if host in known:
            return f"{host} is given twice; each node needs its own address"
        known.add(host)
    return ""


class HostCheck(Check):
    """A name or an address of a machine."""

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with a name that no machine can have, a port, or brackets around an IPv6 address."""
        if _is_ipv6(value) or (_is_host(value) and not set("[]:") & set(value)):
            return ""
        advice = f"; write {value[1:-1]}" if _can_have_port(value) else ""
        return f"--{name}: {value!r} is not the name or the address of a machine{advice}"


class AddressCheck(Check):
    """A host, alone or with a port; or nothing."""

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with an impossible port, or a host with colons that is not an IPv6 address."""
        host, _, port = value.rpartition(":")
        with_port = _can_have_port(host) and _is_port(port)
        is_good = not value or with_port or _can_have_port(value) or _is_ipv6(value)
        return "" if is_good else f"--{name}: {value!r} is not a host, or a host and port, such as node1:2222"


def _is_host(name: str) -> bool:
    """Return whether a name can be resolved: no part may be empty or have over 63 characters."""
    try:
        return bool(name.encode("idna"))
    except UnicodeError:
        return False


def _can_have_port(host: str) -> bool:
    """Return whether a colon and a port may follow a host: a name or an address, in brackets if it is IPv6."""
    if host.startswith("[") and host.endswith("]"):
        return _is_ipv6(host[1:-1])
    return _is_host(host) and not set("[]:") & set(host)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 5 and 0 < int(text) < 65536


def _is_ipv6(host: str) -> bool:
    try:
        return IPv6Address(host) is not None
    except ValueError:
        return False


class WorkerNumberCheck(Check):
    """A number of workers, or the least and the greatest number."""

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with a text other than N, or N:M with M of at least N."""
        numbers = value.split(":") if value else ["1"]
        are_numbers = len(numbers) <= 2 and all(number.isdecimal() and int(number) for number in numbers)
        if are_numbers and int(numbers[0]) <= int(numbers[-1]):
            return ""
        return f"--{name}={value}: must be a number of workers, or the least and the greatest, such as 2:8"


class ReplicasCheck(Check):
    """A number of gradients: any but 0."""

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with 0."""
        allowed = "positive, or negative: -N for N times the number of workers"
        return "" if value else f"--{name}={value}: must be {allowed}"


@dataclass(frozen=True)
class ClusterOptions:
    """The cluster that a node belongs to, and its place in it; without workers, this process is not in a cluster.

    A node tries `coordinator_retries` times to reach the coordinator, every half second. The coordinator's secret is in
    the environment or in `token_file`.
    """

    title: ClassVar[str] = "Cluster"
    scheduler: str = flag(
        "",
        "scheduler whose environment variables give this node's place, instead of the next flags: tf_config, jobset, "
        "indexed_job or slurm",
        name="cluster",
        check=OneOf(("", *SCHEDULERS)),
        decides_result=False,
    )
    parameter_servers: tuple[str, ...] = flag(
        (),
        "parameter servers, as host:port, separated by commas",
        name="ps_hosts",
        check=HostsCheck(),
        decides_result=False,
    )
    workers: tuple[str, ...] = flag(
        (),
        "workers, as host:port, separated by commas, the first of which is the chief; auto: each reports its address",
        name="worker_hosts",
        check=HostsCheck(may_be_announced=True),
        decides_result=False,
    )
    worker_number: str = flag(
        "",
        "with worker_hosts auto, the number of workers; or the least and the greatest, such as 2:8, if it varies",
        name="workers",
        check=WorkerNumberCheck(),
        decides_result=False,
    )
    worker_address: str = flag(
        "",
        "with worker_hosts auto, this worker's address for parameter servers, as host or host:port; default: detected",
        check=AddressCheck(),
        decides_result=False,
    )
    job_name: str = flag(
        "localhost",
        "role of this node: ps or worker; localhost: not in a cluster",
        check=OneOf(JOB_NAMES),
        decides_result=False,
    )
    task: int = flag(
        0,
        "this node's index in ps_hosts or worker_hosts, from 0; with worker_hosts auto, 0 for the chief, -1 for others",
        name="task_index",
        decides_result=False,
    )
    given_replicas: int = flag(
        -1,
        "gradients computed for a step; -N: N times the number of workers",
        name="replicas",
        check=ReplicasCheck(),
    )
    given_replicas_to_aggregate: int = flag(
        -1,
        "gradients that are used for a step; -N: N times the number of workers",
        name="replicas_to_agg",
        check=ReplicasCheck(),
    )
    sync: str = flag(
        PARAMETER_SERVERS,
        "ps: parameter servers hold the weights; allreduce: every worker holds the weights and adds up gradients in a "
        "ring, without parameter servers",
        check=OneOf((PARAMETER_SERVERS, ALL_REDUCE)),
    )
    gradient_type: str = flag(
        "float32",
        "type in which workers send gradients; bfloat16 halves their size",
        check=OneOf(GRADIENT_TYPES),
    )
    coordinator_host: str = flag(
        "localhost",
        "the coordinator's address, which is that of the first worker",
        name="coord_host",
        check=HostCheck(),
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
        "file with the secret that all nodes share; or set DEEPSPEECH_COORD_TOKEN",
        name="coord_token_file",
        decides_result=False,
    )

    @property
    def announces(self) -> bool:
        """Whether each worker reports its own address to the coordinator, because nodes do not know each other's."""
        return self.workers == ANNOUNCED

    @property
    def all_reduces(self) -> bool:
        """Whether every worker holds the weights, and there are no parameter servers."""
        return self.sync == ALL_REDUCE

    @property
    def places(self) -> int:
        """The number of workers, or the greatest number."""
        return int(self.worker_number.rpartition(":")[2] or 1) if self.announces else len(self.workers)

    @property
    def least_workers(self) -> int:
        """The least number of workers if it varies; otherwise 0."""
        return int(self.worker_number.partition(":")[0]) if self.announces and ":" in self.worker_number else 0

    @property
    def node_name(self) -> str:
        """This node's name for people: "worker 1", "worker" without a place, "localhost" without a cluster."""
        placeless = self.job_name == "localhost" or self.task == ANY_PLACE
        return self.job_name if placeless else f"{self.job_name} {self.task}"

    @property
    def replicas(self) -> int:
        """The number of gradients that may be computed for a step."""
        return self._times_workers(self.given_replicas)

    @property
    def replicas_to_aggregate(self) -> int:
        """The number of gradients that are used for a step."""
        return self._times_workers(self.given_replicas_to_aggregate)

    @property
    def is_chief(self) -> bool:
        """Whether this is the node that the coordinator runs on, the first worker."""
        return self.job_name == "worker" and self.task == 0

    def _times_workers(self, count: int) -> int:
        return count if count > 0 else -count * self.places
