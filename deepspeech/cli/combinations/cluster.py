"""Checks of the flags of a cluster in combination."""

from ...errors import FlagError
from ...options import ClusterOptions, Options
from ...options.cluster import ANY_PLACE


def check_cluster(options: Options) -> None:
    """Raise FlagError for the first flags of a cluster that cannot be combined."""
    cluster = options.cluster
    _check_announcing(cluster)
    if cluster.all_reduces:
        _check_all_reducing(cluster)
    if not (cluster.parameter_servers or cluster.workers or cluster.job_name != "localhost"):
        return
    if not (cluster.workers and (cluster.parameter_servers or cluster.all_reduces)):
        raise FlagError(
            "--ps_hosts and --worker_hosts: a cluster needs both, the same on every node, or --worker_hosts alone and "
            "--sync=allreduce"
        )
    if cluster.job_name == "localhost":
        raise FlagError("--job_name: give the role of this node in the cluster, ps or worker")
    shared = set(cluster.parameter_servers) & set(cluster.workers)
    if shared:
        raise FlagError(f"--ps_hosts and --worker_hosts: {min(shared)} is in both; each node needs its own address")
    _check_place(cluster)
    if options.schedule.train and not options.train.files:
        raise FlagError("--train_files: a cluster needs them, the same on every node")


def _check_all_reducing(cluster: ClusterOptions) -> None:
    if cluster.parameter_servers and cluster.scheduler:
        raise FlagError(f"--sync=allreduce: needs no parameter servers, but --cluster={cluster.scheduler} names some")
    if cluster.parameter_servers or cluster.job_name == "ps":
        raise FlagError("--sync=allreduce: needs no parameter servers; leave out --ps_hosts and --job_name=ps")
    if not cluster.workers:
        raise FlagError("--sync=allreduce: needs --worker_hosts and --job_name=worker, on every node")
    if cluster.replicas != cluster.replicas_to_aggregate or cluster.replicas % cluster.places:
        raise FlagError(
            f"--replicas={cluster.given_replicas} and --replicas_to_agg={cluster.given_replicas_to_aggregate}: with "
            "--sync=allreduce, each step uses the gradients of all workers; give both the same negative number"
        )


def _check_announcing(cluster: ClusterOptions) -> None:
    if cluster.announces and not cluster.worker_number:
        raise FlagError("--worker_hosts=auto: needs --workers, the number of workers, or a range, such as 2:8")
    for name, value in (("workers", cluster.worker_number), ("worker_address", cluster.worker_address)):
        if value and not cluster.announces:
            raise FlagError(f"--{name}: needs --worker_hosts=auto, with which workers report their addresses")
    takes_all = cluster.given_replicas == cluster.given_replicas_to_aggregate < 0
    if cluster.least_workers and not takes_all:
        raise FlagError(
            f"--workers={cluster.worker_number}: with a range of workers, each step uses the gradients of all workers; "
            "give --replicas and --replicas_to_agg the same negative number"
        )


def _check_place(cluster: ClusterOptions) -> None:
    places = len(cluster.parameter_servers) if cluster.job_name == "ps" else cluster.places
    takes_any = cluster.announces and cluster.job_name == "worker" and cluster.task == ANY_PLACE
    if not (takes_any or 0 <= cluster.task < places):
        allowed = f"0 to {places - 1}, a place in --{cluster.job_name}_hosts"
        raise FlagError(f"--task_index={cluster.task}: must be {allowed}")
