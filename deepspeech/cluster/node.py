"""What every node of a cluster has: its name, secret, TensorFlow server, and the properties that must agree."""

import errno
import logging
import os
import secrets
import signal
import threading
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from ..errors import ClusterError
from ..options import ClusterOptions, Options
from ..options.cluster import TOKEN_VARIABLE
from ..training.graph import session_config
from ..training.interruption import Interrupted
from ..training.session_errors import summary
from ..util.signals import say
from ..util.web.listening import listen
from ..util.web.tokens import is_reached_from_beyond
from ..util.web.tokens import read_token as read_secret
from .addresses.reachability import GRPC_PROXY
from .coordination.errors import CoordinatorError, TrainingStoppedError
from .coordination.membership import Applicant, Role
from .http.client import Address, Connection, Membership, join
from .monitoring.node_record import NodeRecord, NodeState

v1 = tf.compat.v1
logger = logging.getLogger(__name__)

SERVERS_LOST = (
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.FailedPreconditionError,
    tf.errors.InternalError,
    tf.errors.NotFoundError,
    tf.errors.UnavailableError,
    tf.errors.UnknownError,
)
"""What TensorFlow raises when another server is gone or was restarted."""

GRACE_SECONDS = 5.0
"""Seconds that a node has to end by itself after it has learned that it cannot continue."""


STOPPING_SECONDS = 20.0
"""Seconds that a parameter server takes at most to end after a signal, or after its weights are saved.

Schedulers often allow 30.
"""


def read_token(options: ClusterOptions) -> str | None:
    """Return the secret that nodes send to the coordinator, or None if it needs none.

    Raises ClusterError if the secret cannot be read, is too short, or is missing although other machines can reach the
    coordinator.
    """
    token = read_secret(TOKEN_VARIABLE, "coord_token_file", options.token_file, ClusterError)
    if token is None and is_reached_from_beyond("coord_host", options.coordinator_host, ClusterError):
        raise ClusterError(
            f"--coord_host={options.coordinator_host}: beyond this machine the coordinator needs a secret;"
            f" give every node --coord_token_file or {TOKEN_VARIABLE}"
        )
    return token


def address_of(options: ClusterOptions, token: str | None) -> Address:
    """Return where the coordinator is and how to reach it."""
    return Address(options.coordinator_host, options.coordinator_port, token, options.coordinator_retries)


def new_process() -> str:
    """Return a random identifier, which distinguishes this process from others with the same role and task."""
    return secrets.token_hex(8)


def applicant_of(options: ClusterOptions, process: str, properties: Mapping[str, str], address: str = "") -> Applicant:
    """Return the applicant that a process joins as; `address` is its address if other nodes cannot know it."""
    return Applicant(Role(options.job_name), options.task, process, properties, address)


def join_or_explain(connection: Connection, applicant: Applicant, record: NodeRecord) -> Membership:
    """Join the training. Raises ClusterError if the coordinator cannot be reached or refuses, and Interrupted."""
    record.state = NodeState.JOINING
    try:
        membership = join(connection, applicant, record.report_if_due)
        record.note_joined()
        return membership
    except TrainingStoppedError as error:
        raise stopped_with_all(error) from error
    except CoordinatorError as error:
        raise ClusterError(str(error)) from error


def stopped_with_all(error: TrainingStoppedError) -> Interrupted:
    """Return the error that ends a node when the chief was told to stop; every node ends with SIGTERM's exit code."""
    return Interrupted(signal.SIGTERM, f"training was stopped: {error}")


def gradients_per_step(options: Options) -> int:
    """Return how many worker gradients make one step of the optimizer."""
    return options.cluster.replicas_to_aggregate * options.optimizer.accumulate_gradients


def has_spares(options: Options) -> bool:
    """Return whether more gradients are computed for a step than it uses."""
    return options.cluster.replicas > options.cluster.replicas_to_aggregate


def start_server(options: Options, cluster: ClusterOptions, workers: Mapping[int, str] | None = None) -> Any:
    """Start this node's TensorFlow server. Raises ClusterError if it cannot listen on its address.

    `workers` are the worker addresses that the server gets, by place, instead of those of the flags. With port 0 in its
    own address, the server listens on any free port, which `port_of` returns.

    From then on, this process connects to other nodes without the proxies of the environment, unless `grpc_proxy` says
    otherwise.
    """
    workers = dict(enumerate(cluster.workers)) if workers is None else workers
    host = cluster.parameter_servers[cluster.task] if cluster.job_name == "ps" else workers[cluster.task]
    port = int(host.rpartition(":")[2])
    try:
        listen("0.0.0.0", port).close()  # noqa: S104 - TensorFlow's server listens at all addresses
    except OSError as error:
        raise port_taken(cluster, host, error) from error
    os.environ.setdefault(GRPC_PROXY, "")  # or gRPC would look for the other nodes at `http_proxy`, and wait
    spec = tf.train.ClusterSpec({"ps": list(cluster.parameter_servers), "worker": workers})
    try:
        return v1.train.Server(spec, cluster.job_name, cluster.task, config=server_config(options, cluster))
    except tf.errors.OpError as error:
        raise ClusterError(f"--{cluster.job_name}_hosts: {host}: {summary(error)}") from error


def server_config(options: Options, cluster: ClusterOptions) -> Any:
    """Return the configuration of a node's server; a parameter server leaves the GPUs to the workers on its machine."""
    config = session_config(options.session)
    if cluster.job_name == "ps":
        config.device_count["GPU"] = 0
    return config


def port_taken(cluster: ClusterOptions, host: str, error: OSError) -> ClusterError:
    """Return the error to raise if this node cannot listen on its address, HOST:PORT."""
    return ClusterError(
        f"--{cluster.job_name}_hosts: {host}: cannot listen on its port ({error.strerror}); "
        "stop the program that uses it, or choose another port on every node"
    )


def port_of(server: Any) -> int:
    """Return the port that a TensorFlow server listens on."""
    return int(server.target.rpartition(":")[2])


def cluster_session_config(options: Options, cluster: ClusterOptions) -> Any:
    """Return the configuration of a worker's sessions, which see the parameter servers but no other workers."""
    config = session_config(options.session)
    config.device_filters.extend(["/job:ps", f"/job:worker/task:{cluster.task}"])
    return config


def end_hard_later(reason: str, seconds: float = GRACE_SECONDS, code: int = 1) -> threading.Timer:
    """End the process with an exit code after `seconds`, because TensorFlow may never return from a step.

    Returns the timer, which can be cancelled. The timer does not keep the process from ending earlier.
    """

    def end() -> None:
        say(reason, level="error" if code == 1 else "warning")
        os._exit(code)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    return timer


def is_of_a_server(error: BaseException | None) -> bool:
    """Return whether TensorFlow raised an error because of another server, and not because of a file."""
    if not isinstance(error, SERVERS_LOST):
        return False
    return not any(f"; {os.strerror(number)}" in str(error.message) for number in errno.errorcode)


def end_hard_after_signal(number: int, record: NodeRecord) -> None:
    """End the process, unless it ends by itself, before a scheduler's grace period of 30 seconds is over."""
    record.state = NodeState.ENDING
    end_hard_later("stopped; it could not end by itself", STOPPING_SECONDS, 128 + number)
