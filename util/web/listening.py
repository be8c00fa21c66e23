"""Sockets that servers listen on."""

import ipaddress
import os
import socket
from typing import Any

from .tokens import is_loopback


def listen(host: str, port: int, backlog: int | None = None) -> socket.socket:
    """Return a socket that listens at the first address of a host, on a port, 0 for any. Raise OSError."""
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return _created(address[:2], family, backlog)


def listen_everywhere(port: int, backlog: int | None = None) -> socket.socket:
    """Return a socket that listens at all addresses, of IPv4 and IPv6, on a port, 0 for any. Raise OSError."""
    both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    return _created(("", port), family, backlog, dualstack_ipv6=both)


def _created(
    address: tuple[Any, ...], family: socket.AddressFamily, backlog: int | None, *, dualstack_ipv6: bool = False
) -> socket.socket:
    """Return a socket that listens. Raise OSError with the system's reason alone; Python's adds the address."""
    try:
        return socket.create_server(address, family=family, backlog=backlog, dualstack_ipv6=dualstack_ipv6)
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno or 0)) from error


def is_known_as_loopback(host: str) -> bool:
    """Return whether others reach this machine by a name that is a loopback address on this machine itself.

    This is so for the machine's own name in Debian's /etc/hosts, 127.0.1.1. Raise OSError for an unknown name.
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return not host.lower().startswith(("localhost", "ip6-")) and is_loopback(host)
    return False
