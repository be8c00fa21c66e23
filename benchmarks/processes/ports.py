"""Ports for servers on this machine."""

import socket


def free_ports(count: int) -> list[int]:
    """Return `count` different TCP ports that no server listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports
