"""The flags of a cluster: DeepSpeech's, and two more (coord_lease_secs, coord_token_file)."""

from pathlib import Path
from typing import Any

from absl import flags

from ..options import ClusterOptions

CLUSTER_FLAGS: tuple[Any, ...] = (
    (flags.DEFINE_string, "ps_hosts", "", "parameter servers, as host:port, separated by commas"),
    (flags.DEFINE_string, "worker_hosts", "", "workers, as host:port, separated by commas; the first is the chief"),
    (flags.DEFINE_string, "job_name", "localhost", "what this node is: ps or worker; localhost: not of a cluster"),
    (flags.DEFINE_integer, "task_index", 0, "this node's place in ps_hosts or worker_hosts, from 0"),
    (flags.DEFINE_integer, "replicas", -1, "gradients worked on for a step; negative: times the number of workers"),
    (flags.DEFINE_integer, "replicas_to_agg", -1, "gradients that make a step; negative: times the number of workers"),
    (flags.DEFINE_string, "coord_host", "localhost", "where the coordinator listens: the first worker's address"),
    (flags.DEFINE_integer, "coord_port", 2500, "the training coordinator's port"),
    (flags.DEFINE_integer, "coord_retries", 100, "tries to reach the coordinator, one each half second"),
    (flags.DEFINE_float, "coord_lease_secs", 10.0, "seconds of silence after which a node loses its jobs to others"),
    (flags.DEFINE_string, "coord_token_file", "", "file with the nodes' secret; or set DEEPSPEECH_COORD_TOKEN"),
)


def cluster_options(values: Any) -> ClusterOptions | None:
    """What the flags say of the cluster; None if they name none."""
    if not values.worker_hosts:
        return None
    workers = _hosts(values.worker_hosts)

    def times_workers(count: int) -> int:
        return count if count > 0 else -count * len(workers)

    return ClusterOptions(
        parameter_servers=_hosts(values.ps_hosts),
        workers=workers,
        job_name=values.job_name,
        task=values.task_index,
        replicas=times_workers(values.replicas),
        replicas_to_aggregate=times_workers(values.replicas_to_agg),
        coordinator_host=values.coord_host,
        coordinator_port=values.coord_port,
        coordinator_retries=values.coord_retries,
        lease_seconds=values.coord_lease_secs,
        token_file=Path(values.coord_token_file) if values.coord_token_file else None,
    )


def _hosts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
