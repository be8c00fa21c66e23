"""A parameter server: holds variables until the coordinator says that training is over."""

import ctypes
import logging
import time

from ..errors import ClusterError
from ..options import ClusterOptions, Options
from ..training.interruption import Interrupted, InterruptionWatch, PlainEnding
from .addresses.forwarder import Forwarder, locate_with
from .coordination.errors import CoordinatorError, NotMemberError, TrainingFailedError, TrainingStoppedError
from .http.client import RETRY_SECONDS, Connection, Membership
from .monitoring.node_record import NodeRecord, NodeState
from .node import (
    address_of,
    applicant_of,
    end_hard_after_signal,
    join_or_explain,
    new_process,
    read_token,
    start_server,
    stopped_with_all,
)
from .properties import code_property

logger = logging.getLogger(__name__)

UNANSWERED_SECONDS = 6.0
"""Seconds without an answer after which a server that was told to stop no longer waits for the chief to save."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of `mallopt` in the GNU C library."""

MOST_FROM_HEAP = 1 << 25
"""Bytes; the C library always gets larger blocks from the system, whatever the setting."""

MOST_KEPT = 1 << 30
"""Bytes of freed memory that are not returned to the system."""

ENDING = PlainEnding(
    "leaving the cluster when the weights are saved", "stopped; the weights that this parameter server held are gone"
)


def serve_parameters(options: Options, cluster: ClusterOptions, record: NodeRecord) -> None:
    """Hold variables until training is over. Raises ClusterError if training fails or the coordinator stays away."""
    connection = Connection(address_of(cluster, read_token(cluster)))
    _keep_freed_memory()
    server = start_server(options, cluster, _forwarded(cluster, connection) if cluster.announces else None)
    logger.info("Parameter server %d at %s", cluster.task, server.target)
    applicant = applicant_of(cluster, new_process(), code_property())
    with InterruptionWatch(ENDING) as watch:
        connection.given_up = lambda: watch.signal_number is not None
        while True:
            watch.when_signalled = lambda number: end_hard_after_signal(number, record)
            try:
                membership = join_or_explain(connection, applicant, record)
            except ClusterError as error:
                if watch.signal_number is None:
                    raise
                raise Interrupted(watch.signal_number, "interrupted while waiting for the coordinator") from error
            watch.when_signalled = lambda _: None  # saving at the chief has no time limit
            if _wait_for_the_end(membership, watch, record):
                return


def _keep_freed_memory() -> None:
    """Let the C library keep freed memory: else each step gets all its tensors from the system, page by page."""
    c_library = ctypes.CDLL(None)
    if hasattr(c_library, "mallopt"):  # other C libraries lack it
        c_library.mallopt(M_MMAP_THRESHOLD, MOST_FROM_HEAP)
        c_library.mallopt(M_TRIM_THRESHOLD, MOST_KEPT)


def _forwarded(cluster: ClusterOptions, connection: Connection) -> dict[int, str]:
    """Return local addresses, by the workers' places, whose connections are forwarded to the workers."""
    try:
        forwarder = Forwarder(cluster.places, locate_with(connection))
    except OSError as error:
        raise ClusterError(
            f"--workers={cluster.worker_number}: cannot listen on {cluster.places} ports ({error.strerror}); "
            "raise the limit of open files (ulimit -n)"
        ) from error
    forwarder.start()
    return {place: f"127.0.0.1:{port}" for place, port in enumerate(forwarder.ports)}


def _wait_for_the_end(membership: Membership, watch: InterruptionWatch, record: NodeRecord) -> bool:
    """Wait until training is over and return True; return False if the coordinator no longer knows this server.

    Raise Interrupted after a signal, once the chief has saved this server's weights or does not answer.
    """
    while not membership.over:
        time.sleep(RETRY_SECONDS / 2)
        if watch.signal_number is not None:
            membership.must_go, record.state = True, NodeState.ENDING
        if membership.must_go and time.monotonic() - membership.heard > UNANSWERED_SECONDS:
            break
        if isinstance(membership.error, NotMemberError):
            logger.warning("The coordinator no longer knows this parameter server: joining again")
            return False
        if isinstance(membership.error, TrainingStoppedError):
            raise stopped_with_all(membership.error)
        if isinstance(membership.error, TrainingFailedError):
            raise ClusterError(f"training has failed: {membership.error}")
        if isinstance(membership.error, CoordinatorError):
            raise ClusterError(str(membership.error))
        if membership.error is not None:
            raise membership.error
    if watch.signal_number is not None:
        end_hard_after_signal(watch.signal_number, record)
    membership.leave()
    if watch.signal_number is not None:
        goes_on = "unless training is over, start this parameter server again and training goes on"
        raise Interrupted(watch.signal_number, f"interrupted; {goes_on}")
    return True
