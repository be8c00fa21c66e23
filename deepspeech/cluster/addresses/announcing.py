"""How a worker without a fixed place gets one from the coordinator, and finds the address that it announces."""

import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from ...errors import ClusterError
from ...options import ClusterOptions
from ...util.monitoring.waiting import Waiting
from ...util.web.listening import is_known_as_loopback
from ..coordination.errors import CoordinatorError, ReplacedError
from ..coordination.places import RESERVED_SECONDS
from ..http import routes
from ..http.client import LEAVE_SECONDS, POLL_SECONDS, RETRY_SECONDS, Connection

logger = logging.getLogger(__name__)


class ConnectionOfAnyPlace(Connection):
    """Requests of a worker that works at any place: when another worker has got its place, it takes a new one.

    The graph and TensorFlow's server are made for one place, and a server cannot be stopped. The process therefore
    runs its command again from the start. The coordinator has handed out its jobs to other workers.
    """

    def post(
        self, route: routes.Route, body: Mapping[str, Any], wait: float = 0.0, patience: float | None = None
    ) -> tuple[int, Any]:
        """Send a request as a Connection does; restart the process if another one has got its place."""
        try:
            return super().post(route, body, wait, patience)
        except ReplacedError:
            if self.given_up():
                raise
        logger.warning("Another worker has got this worker's place: restarting at another place")
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - it runs this program


def take_place(connection: Connection, process: str, patience: float) -> int | None:
    """Return the place that the coordinator assigns to a worker, or None if training is over.

    Raise ClusterError if the coordinator cannot be reached, or no place is free for `patience` seconds, and a
    CoordinatorError if training has failed or was stopped.
    """
    waiting, wait = Waiting(), min(POLL_SECONDS, patience)
    while True:
        status, answer = connection.post(routes.TAKE_PLACE, {"process": process, "wait": wait}, wait)
        if status == routes.TRAINING_OVER:
            return None
        if status != routes.ASK_AGAIN:
            return int(answer["task"])
        if waiting.seconds() >= patience:
            raise ClusterError(
                f"all places of workers were taken for {patience:.0f} s; give every node a greater number in --workers"
            )


@contextmanager
def place_kept(connection: Connection, process: str) -> Iterator[None]:
    """Keep a worker's assigned place reserved until it joins; if the worker dies, the reservation soon ends."""
    ended = threading.Event()

    def ask_again_and_again() -> None:
        while not ended.wait(RESERVED_SECONDS / 6):
            with suppress(ClusterError, CoordinatorError):
                connection.post(routes.TAKE_PLACE, {"process": process, "wait": 0.0}, patience=LEAVE_SECONDS)

    thread = threading.Thread(target=ask_again_and_again, name="place", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def wait_for_name(host: str, patience: float) -> None:
    """Wait up to `patience` seconds until a host's name is known: a pod's name appears some seconds after the pod."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            socket.getaddrinfo(host, None)
            return
        except OSError:
            time.sleep(RETRY_SECONDS)


def port_to_listen_on(cluster: ClusterOptions) -> int:
    """Return the port in a worker's address; if it has none, return 0, for any free port."""
    _, port = _host_and_port(cluster.worker_address)
    return port


def own_address(cluster: ClusterOptions, port: int) -> str:
    """Return the address at which other nodes reach this worker, as HOST:PORT; it listens on `port`.

    Raise ClusterError if this machine finds no route to the coordinator within the time for `--coord_retries`.
    """
    host, _ = _host_and_port(cluster.worker_address)
    if not host and cluster.is_chief:
        host = cluster.coordinator_host
    patience = cluster.coordinator_retries * RETRY_SECONDS
    host = host or _address_towards(cluster.coordinator_host, cluster.coordinator_port, patience)
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else f"{host}:{port}"


def _host_and_port(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    has_port = colon and port.isdecimal() and (":" not in host or host.endswith("]"))
    return (host, int(port)) if has_port else (address, 0)


def _address_towards(host: str, port: int, patience: float) -> str:
    """Return this machine's address on the route to a host, whose name may take `patience` seconds to become known.

    Nothing is sent.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            if is_known_as_loopback(host):
                return host  # this is the coordinator's machine, and others reach it by that name
            family, kind, *_, where = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind) as route:
                route.connect(where)
                return str(route.getsockname()[0])
        except OSError as error:
            if time.monotonic() >= deadline:
                raise ClusterError(
                    f"--coord_host={host}: this worker's own address cannot be found ({error.strerror}); "
                    "give --worker_address"
                ) from error
        time.sleep(RETRY_SECONDS)
