"""Local ports for servers that a benchmark or a test starts."""

import contextlib
import random
import socket

# Operating systems assign ports from 32,768 (Linux) or 49,152 on to outgoing connections. So no such connection can
# take a lower port between its choice here and the server's start.
FIRST, LAST = 10_000, 32_767


def free_ports(count: int) -> list[int]:
    """Return `count` TCP ports in a row that no server listens on.

    Raises:
        OSError: No such row was found.
    """
    for _ in range(1000):
        first = random.SystemRandom().randint(FIRST, LAST + 1 - count)
        ports = list(range(first, first + count))
        with contextlib.suppress(OSError), contextlib.ExitStack() as servers:
            for port in ports:
                servers.enter_context(socket.create_server(("127.0.0.1", port)))
            return ports
    raise OSError(f"no {count} free ports in a row from {FIRST} to {LAST}")
