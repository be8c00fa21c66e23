"""Serves the coordinator, or only a status page: uvicorn on a separate thread."""

import errno
import gc
import socket
import threading

import uvicorn
from starlette.types import ASGIApp

from ...errors import ClusterError
from ...util.web.connections import ConnectionLimits, allow_more_files
from ...util.web.listening import is_known_as_loopback, listen, listen_everywhere
from .application import application
from .request_limits import limited_to
from .service import Service

BACKLOG = 2048
"""Connections that may wait to be accepted: all nodes may connect at once."""


class ApplicationServer:
    """An application's server, as a context manager: it serves inside the context."""

    def __init__(self, served: ASGIApp, listening: socket.socket, limits: ConnectionLimits | None = None) -> None:
        """Take over the socket, which is closed at the end; by default, the system's limits of connections apply."""
        self._socket = listening
        config = uvicorn.Config(
            served,
            http=limited_to(limits or allow_more_files()),
            ws="none",
            log_config=None,
            log_level="critical",
            access_log=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=2,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="http", daemon=True
        )

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._socket.getsockname()[1])

    def __enter__(self) -> "ApplicationServer":
        # The objects made so far, including a whole graph, stay: each garbage collection over them would delay all
        # answers by a tenth of a second.
        gc.collect()
        gc.freeze()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=5)
        self._socket.close()
        gc.unfreeze()


class Server(ApplicationServer):
    """A coordinator's server, as a context manager: it listens from its creation, and serves inside the context."""

    def __init__(
        self, service: Service, host: str, port: int, token: str | None, limits: ConnectionLimits | None = None
    ) -> None:
        """Listen on the address, or raise ClusterError. With a token, every request must carry it.

        With a token, it listens at all addresses if only this machine resolves the host's name to a loopback address.
        """
        listening = _bind(host, port, beyond_this_machine=token is not None)
        super().__init__(application(service, token, host), listening, limits)


def _bind(host: str, port: int, *, beyond_this_machine: bool) -> socket.socket:
    where = f"--coord_host={host} --coord_port={port}"
    try:
        if beyond_this_machine and is_known_as_loopback(host):
            return listen_everywhere(port, BACKLOG)
        return listen(host, port, BACKLOG)
    except OSError as error:
        advice = {
            errno.EADDRINUSE: "another program listens there; choose another --coord_port, the same on every node",
            errno.EADDRNOTAVAIL: "it must be an address of the first worker's machine",
        }.get(error.errno or 0, "it must be an address of the first worker's machine")
        raise ClusterError(f"{where}: the coordinator cannot listen ({error.strerror}); {advice}") from error
