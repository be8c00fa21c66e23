"""A parameter server: holds variables until the coordinator says that training is over."""

import logging
import time

from ..errors import ClusterError
from ..options import ClusterOptions, Options
from ..training.interruption import Interrupted, InterruptionWatch, PlainEnding
from .coordination.errors import CoordinatorError, NotMemberError, TrainingFailedError
from .http.client import RETRY_SECONDS, Connection, Membership
from .node import address_of, applicant_of, code_property, join_or_explain, read_token, start_server

logger = logging.getLogger(__name__)

ENDING = PlainEnding("leaving the cluster", "stopped; the weights that this parameter server held are gone")


def serve_parameters(options: Options, cluster: ClusterOptions) -> None:
    """Hold variables until training is over. Raises ClusterError if training fails or the coordinator stays away."""
    connection = Connection(address_of(cluster, read_token(cluster)))
    server = start_server(options, cluster)
    logger.info("Parameter server %d at %s", cluster.task, server.target)
    applicant = applicant_of(cluster, code_property())
    with InterruptionWatch(ENDING) as watch:
        while True:
            membership = join_or_explain(connection, applicant)
            if _wait_for_the_end(membership, watch):
                return


def _wait_for_the_end(membership: Membership, watch: InterruptionWatch) -> bool:
    """Wait until training is over and return True; return False if the coordinator no longer knows this server."""
    while not membership.over:
        time.sleep(RETRY_SECONDS / 2)
        if watch.signal_number is not None:
            membership.close()
            raise Interrupted(watch.signal_number, "interrupted; the weights that this parameter server held are gone")
        if isinstance(membership.error, NotMemberError):
            logger.warning("The coordinator no longer knows this parameter server: joining again")
            return False
        if isinstance(membership.error, TrainingFailedError):
            raise ClusterError(f"training has failed: {membership.error}")
        if isinstance(membership.error, CoordinatorError):
            raise ClusterError(str(membership.error))
        if membership.error is not None:
            raise membership.error
    membership.leave()
    return True
