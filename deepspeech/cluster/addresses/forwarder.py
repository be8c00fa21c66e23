"""Forwards a parameter server's connections to the workers' current addresses.

TensorFlow's servers get the addresses of all others once, at their start. Workers can nevertheless come, go and come
back elsewhere: a parameter server gets addresses on its own machine, one for each worker place. The forwarder connects
each of them to the address that the worker at that place has announced to the coordinator. Only gradients are sent this
way: workers fetch the weights from the parameter servers' own addresses.
"""

import logging
import selectors
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from ...errors import DeepSpeechError
from ..coordination.errors import CoordinatorError
from ..http import routes
from ..http.client import LEAVE_SECONDS, Connection
from .connecting import connect

logger = logging.getLogger(__name__)

Locate = Callable[[int], str | None]
"""Returns the address of the worker at a place, as HOST:PORT, or None if it is not known."""

CONNECT_SECONDS = 5.0
"""Seconds that connecting to a worker may take."""

SILENCE_SECONDS = 10
"""Seconds without an acknowledgement after which a worker's machine is treated as gone."""

RELIEF_SECONDS = 0.1
"""Seconds until the next try to accept when the process has no descriptor or thread left."""

PIECE = 1 << 20
"""Most bytes that are forwarded at once."""


class Forwarder:
    """Listens on one local port for each worker place; `ports` are in the order of the places."""

    def __init__(self, places: int, locate: Locate) -> None:
        """Listen; `locate` is called for each connection. Raise OSError if the system has too few sockets."""
        self._locate = locate
        self._listening = [socket.create_server(("127.0.0.1", 0)) for _ in range(places)]
        self.ports = [int(each.getsockname()[1]) for each in self._listening]

    def start(self) -> None:
        """Forward on separate threads, until the process ends."""
        threading.Thread(target=self._accept, name="forwarder", daemon=True).start()

    def _accept(self) -> None:
        with selectors.DefaultSelector() as selector:
            for place, listening in enumerate(self._listening):
                selector.register(listening, selectors.EVENT_READ, place)
            while True:
                for key, _ in selector.select():
                    try:
                        client, _ = self._listening[key.data].accept()
                        threading.Thread(target=self._forward, args=(client, key.data), daemon=True).start()
                    except (OSError, RuntimeError) as error:  # no descriptor or thread left; the client stays ready
                        logger.debug("worker %d: not accepted: %s", key.data, error)
                        time.sleep(RELIEF_SECONDS)

    def _forward(self, client: socket.socket, place: int) -> None:
        worker = None
        try:
            with client:
                worker = self._connect(place)
                with worker:
                    back = threading.Thread(target=_copy, args=(worker, client), daemon=True)
                    back.start()
                    _copy(client, worker)
                    back.join()
        except (OSError, DeepSpeechError, CoordinatorError) as error:
            logger.debug("worker %d: not forwarded: %s", place, error)

    def _connect(self, place: int) -> socket.socket:
        address = self._locate(place)
        if address is None:
            raise ConnectionRefusedError("its address is not known")
        worker = connect(address, CONNECT_SECONDS)
        worker.settimeout(None)
        worker.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        worker.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEPING_ALIVE.items():
            worker.setsockopt(socket.IPPROTO_TCP, option, value)
        return worker


_KEEPING_ALIVE = {
    getattr(socket, name): value
    for name, value in {
        "TCP_KEEPIDLE": SILENCE_SECONDS // 2,
        "TCP_KEEPINTVL": 1,
        "TCP_KEEPCNT": SILENCE_SECONDS // 2,
        "TCP_USER_TIMEOUT": 1000 * SILENCE_SECONDS,
    }.items()
    if hasattr(socket, name)
}
"""Detects that a worker's machine has vanished, so that the next connection goes to the worker's new address."""


def locate_with(connection: Connection) -> Locate:
    """Return a function that asks the coordinator for a worker's address."""

    def locate(place: int) -> str | None:
        _, answer = connection.post(routes.FIND_WORKER, {"task": place}, patience=LEAVE_SECONDS)
        return answer and str(answer["address"])

    return locate


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Copy until either side closes, then close both: these connections are never half-open."""
    piece = memoryview(bytearray(PIECE))
    with suppress(OSError):
        while count := source.recv_into(piece):
            target.sendall(piece[:count])
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
