"""A node's place in a cluster, and the flags that describe it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PARAMETER_SERVER, WORKER = "ps", "worker"


@dataclass(frozen=True)
class Place:
    """The node of a cluster that a process runs, and the addresses that it needs.

    `parameter_servers` are as HOST:PORT. Workers announce their addresses to the coordinator: `address` if it is given.
    """

    job_name: str
    task: int
    parameter_servers: Sequence[str]
    workers: int
    coordinator_host: str
    coordinator_port: int | None = None
    address: str = ""

    def flags(self) -> Mapping[str, str | int | tuple[str, ...]]:
        """Return the flags that describe this place; without a coordinator's port, the flag keeps its default."""
        values: dict[str, str | int | tuple[str, ...]] = {
            "ps_hosts": tuple(self.parameter_servers),
            "worker_hosts": ("auto",),
            "workers": str(self.workers),
            "job_name": self.job_name,
            "task_index": self.task,
            "coord_host": self.coordinator_host,
        }
        if self.coordinator_port is not None:
            values["coord_port"] = self.coordinator_port
        if self.address:
            values["worker_address"] = self.address
        return values


FLAGS_OF_PLACES = ("ps_hosts", "worker_hosts", "workers", "job_name", "task_index")
"""The flags that `--cluster` sets in place of the user."""
