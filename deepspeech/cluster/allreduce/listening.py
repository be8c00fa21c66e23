"""The socket on which a worker listens for its neighbour in the ring."""

from ...options import ClusterOptions
from ..addresses.announcing import own_address, port_to_listen_on
from ..node import port_taken
from .ring import RingListener


def listen_for_ring(cluster: ClusterOptions) -> tuple[RingListener, str]:
    """Listen at this worker's place; return the listener, and the address to announce, as HOST:PORT.

    Raise ClusterError if the port is taken.
    """
    host = f"localhost:{port_to_listen_on(cluster)}" if cluster.announces else cluster.workers[cluster.task]
    try:
        listener = RingListener(int(host.rpartition(":")[2]))
    except OSError as error:
        raise port_taken(cluster, host, error) from error
    return listener, own_address(cluster, listener.port) if cluster.announces else host
