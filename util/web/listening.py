"""Sockets that servers listen on."""

import socket


def listen(host: str, port: int, backlog: int | None = None) -> socket.socket:
    """Return a socket that listens at the first address of a host, on a port, 0 for any. Raise OSError."""
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return socket.create_server(address[:2], family=family, backlog=backlog)
