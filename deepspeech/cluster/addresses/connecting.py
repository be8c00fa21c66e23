"""Connections to the addresses of other nodes."""

import socket


def connect(address: str, seconds: float) -> socket.socket:
    """Return a connection to HOST:PORT, with [..] around an IPv6 address, made within `seconds`; raise OSError."""
    host, _, port = address.rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), seconds)
