"""What the flags of a cluster must be."""

from typing import Any

from ..errors import FlagError

JOB_NAMES = ("localhost", "ps", "worker")


def check_cluster(values: Any) -> None:
    """Raise FlagError for the first of the cluster's flags that makes no sense alone or beside the others."""
    if values.job_name not in JOB_NAMES:
        raise FlagError(f"--job_name={values.job_name}: must be one of {', '.join(JOB_NAMES)}")
    for name in ("ps_hosts", "worker_hosts"):
        for host in filter(None, values[name].value.split(",")):
            _check_host(name, host.strip())
    if not 0 <= values.coord_port < 65536:
        raise FlagError(f"--coord_port={values.coord_port}: must be a port, at most 65535")
    for name in ("replicas", "replicas_to_agg"):
        if values[name].value == 0:
            raise FlagError(f"--{name}=0: must be positive, or negative for so many times the number of workers")
    if values.ps_hosts or values.worker_hosts or values.job_name != "localhost":
        _check_place(values)


def _check_host(name: str, host: str) -> None:
    address, _, port = host.rpartition(":")
    if not (address and port.isdecimal() and 0 < int(port) < 65536):
        raise FlagError(f"--{name}: {host!r} is not a host and port, such as node1:2222")


def _check_place(values: Any) -> None:
    if not (values.ps_hosts and values.worker_hosts):
        raise FlagError("--ps_hosts and --worker_hosts: a cluster needs both, the same on every node")
    if values.job_name == "localhost":
        raise FlagError("--job_name: say what this node of the cluster is, ps or worker")
    hosts = [host for host in values[f"{values.job_name}_hosts"].value.split(",") if host.strip()]
    if not 0 <= values.task_index < len(hosts):
        raise FlagError(
            f"--task_index={values.task_index}: must be 0 to {len(hosts) - 1}, a place in --{values.job_name}_hosts"
        )
    if values.train and not values.train_files:
        raise FlagError("--train_files: a cluster needs them, the same on every node")
