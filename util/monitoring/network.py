"""The bytes that this process sends and receives over TCP, as the Linux kernel counts them for each connection."""

import errno
import os
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DESCRIPTORS = Path("/proc/self/fd")

COUNTERS = struct.Struct("=QQ")
"""tcpi_bytes_acked and tcpi_bytes_received of the kernel's `struct tcp_info`, from Linux 4.2 on."""

COUNTERS_AT = 120
"""The offset of these two in the struct, in bytes."""


@dataclass(frozen=True)
class Traffic:
    """Bytes that were sent and acknowledged, and bytes that were received."""

    sent: int = 0
    received: int = 0

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(self.sent + other.sent, self.received + other.received)


class NetworkBytes:
    """Sums the traffic of this process, including TensorFlow's connections and those between nodes of one machine.

    The traffic of a connection between the last look and its end is missing. On systems other than Linux, all is 0.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended = Traffic()
        self._open: dict[int, Traffic] = {}

    def look(self) -> Traffic:
        """Return the traffic so far, or that of the previous look if no file descriptor is left.

        Any thread may call this.
        """
        with self._lock:
            try:
                seen = dict(_connections())
            except OSError:
                return sum(self._open.values(), self._ended)
            for inode, before in self._open.items():
                now = seen.get(inode)
                if now is None or now.sent < before.sent or now.received < before.received:
                    self._ended += before  # it was closed; a new connection may have its number
            self._open = seen
            return sum(seen.values(), self._ended)


def _connections() -> Iterator[tuple[int, Traffic]]:
    """Yield the number and traffic of each of the process's TCP connections; raise OSError if no descriptor is left."""
    if not DESCRIPTORS.exists():
        return
    descriptors = list(DESCRIPTORS.iterdir())
    for descriptor in descriptors:
        try:
            if not str(descriptor.readlink()).startswith("socket:"):
                continue
            copy = os.dup(int(descriptor.name))  # so that no other thread closes it meanwhile
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise
            continue
        try:
            inode = os.fstat(copy).st_ino
            with socket.socket(fileno=copy) as opened:
                copy = -1
                traffic = _traffic_of(opened)
        except OSError:
            if copy >= 0:
                os.close(copy)
            continue
        if traffic is not None:
            yield inode, traffic


def _traffic_of(opened: socket.socket) -> Traffic | None:
    if opened.type != socket.SOCK_STREAM or opened.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    told = opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, COUNTERS_AT + COUNTERS.size)
    if len(told) < COUNTERS_AT + COUNTERS.size:
        return None
    return Traffic(*COUNTERS.unpack_from(told, COUNTERS_AT))
