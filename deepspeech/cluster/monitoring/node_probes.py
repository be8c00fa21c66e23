"""Decides whether a node answers probes, and who may read its metrics, before it imports the server's libraries."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import ClusterError, FlagError
from ...options import ClusterOptions
from ...options.cluster import TOKEN_VARIABLE
from ...options.monitoring import ProbeOptions
from ...util.web.tokens import is_reached_from_beyond, read_token
from ..http.libraries import check_libraries
from .node_record import NodeRecord

logger = logging.getLogger(__name__)


@contextmanager
def node_probes(options: ProbeOptions, cluster: ClusterOptions, record: NodeRecord) -> Iterator[None]:
    """Answer probes inside the context, unless the port is 0.

    Raise FlagError if the server cannot listen on the port, or if other machines can reach it and there is no secret.
    Raise ClusterError if libraries are missing.
    """
    if not options.port:
        yield
        return
    check_libraries("--probe_port")
    token = read_token(TOKEN_VARIABLE, "coord_token_file", cluster.token_file, ClusterError)
    if token is None and is_reached_from_beyond("probe_host", options.host, FlagError):
        raise FlagError(
            f"--probe_host={options.host}: beyond this machine /metrics needs a secret; "
            f"give --coord_token_file or {TOKEN_VARIABLE}"
        )
    from .probes import served

    with served(options, record, token) as port:
        logger.info("Probes and metrics at http://%s:%d", options.host, port)
        yield
