"""A ring of processes that add up vectors: each sends to the next and receives from the previous one, over TCP.

    process 0 ──► process 1 ──► … ──► process n - 1 ──► process 0

A vector is cut into n parts. In n - 1 exchanges, each part goes around the ring and is added up. In n - 1 more, the
sums go around (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009). Each
process sends 2 (n - 1) / n times the vector's bytes. All processes have the same sum, bit for bit, because one process
computes the sum of each part and the others copy it.

A process whose exchange fails closes both its connections. So its neighbours notice that the ring is broken, and close
theirs in turn.
"""

import select
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ...util.web.listening import listen_everywhere
from ..addresses.connecting import connect
from .greetings import Greetings

Floats = npt.NDArray[np.float32]
IsCurrent = Callable[[], bool]
"""Returns whether the ring is still needed."""

JOINING_SECONDS = 8.0
"""Seconds that a process waits for its neighbours to join the ring."""

STALL_SECONDS = 30.0
"""Seconds without a byte after which a ring counts as broken."""

LOOK_SECONDS = 0.2
"""Seconds between checks of whether the ring is still needed."""

PIECE_BYTES = 1 << 20
"""Most bytes in a piece of a copy: a process receives a whole piece before it sends it on."""


class RingBrokenError(Exception):
    """A neighbour is gone or does not join, or the ring is no longer needed."""


@dataclass(frozen=True)
class RingPlace:
    """The `rank` of a process in a ring of `size`, and the address, HOST:PORT, at which the `next` one listens.

    Only the ring's processes know the `key`, which is ASCII.
    """

    key: str
    rank: int
    size: int
    next: str


class RingListener:
    """Listens for the previous process of one ring after another."""

    def __init__(self, port: int) -> None:
        """Listen on a port (0: any free one) at all IPv4 and IPv6 addresses. Raises OSError."""
        self._socket = listen_everywhere(port, backlog=64)

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self._socket.getsockname()[1])

    def join(self, place: RingPlace, is_current: IsCurrent) -> "Ring":
        """Connect to both neighbours; raises RingBrokenError."""
        if place.size == 1:
            return Ring(place, None, None, is_current)
        to_next = _connected(place)
        try:
            return Ring(place, to_next, self._accepted(place, to_next, is_current), is_current)
        except BaseException:
            to_next.close()
            raise

    def _accepted(self, place: RingPlace, to_next: socket.socket, is_current: IsCurrent) -> socket.socket:
        deadline = time.monotonic() + JOINING_SECONDS
        with Greetings(self._socket, to_next, place.key.encode()) as greetings:
            while True:
                accepted = greetings.heard(LOOK_SECONDS)
                if accepted is to_next:  # the next process sends nothing: it has closed the connection
                    raise RingBrokenError(f"the worker at {place.next} has left the ring")
                if accepted is not None:
                    return accepted
                if not is_current():
                    raise RingBrokenError("the group of workers has changed")
                if time.monotonic() > deadline:
                    raise RingBrokenError(f"the worker before this one did not connect for {JOINING_SECONDS:.0f} s")


class Ring:
    """The connections of one process to its neighbours."""

    def __init__(
        self,
        place: RingPlace,
        to_next: socket.socket | None,
        from_previous: socket.socket | None,
        is_current: IsCurrent,
    ) -> None:
        self._place = place
        self._next = to_next
        self._previous = from_previous
        self._is_current = is_current
        self._came = np.empty(0, np.uint8)
        for connection in (to_next, from_previous):
            if connection is not None:
                connection.setblocking(False)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def add_up(
        self, values: npt.NDArray[Any], total: npt.NDArray[Any], *, divisor: float = 1.0, sent_as: Any = None
    ) -> None:
        """Write the sum of all processes' `values` [n], divided by `divisor`, to `total` [n]; raises RingBrokenError.

        The values are sent as the type `sent_as`, by default their own, and added up in their own type.
        """
        size, rank = self._place.size, self._place.rank
        bounds = [len(values) * part // size for part in range(size + 1)]
        parts = [values[begin:end] for begin, end in pairwise(bounds)]
        sums = [total[begin:end] for begin, end in pairwise(bounds)]
        sent_as = values.dtype if sent_as is None else np.dtype(sent_as)
        came = self._room(max(len(part) for part in parts) * sent_as.itemsize).view(sent_as)
        for step in range(size - 1):
            passed_on, added = (rank - step) % size, (rank - step - 1) % size
            out, into = (sums if step else parts)[passed_on], came[: len(parts[added])]
            self._exchange(out.astype(sent_as, copy=False), into)
            np.add(parts[added], into.astype(values.dtype, copy=False), out=sums[added])
        complete = sums[(rank + 1) % size]
        np.divide(complete if size > 1 else values, divisor, out=complete)
        if sent_as != values.dtype and size > 1:
            complete[...] = complete.astype(sent_as)  # as the others receive it
        for step in range(size - 1):
            complete, missing = sums[(rank + 1 - step) % size], sums[(rank - step) % size]
            if sent_as == values.dtype:
                self._exchange(complete, missing)
            else:
                self._exchange(complete.astype(sent_as), came[: len(missing)])
                missing[...] = came[: len(missing)]

    def copy_from_first(self, arrays: Sequence[npt.NDArray[Any]]) -> None:
        """Overwrite the arrays of each process with those of process 0, which have the same types and shapes.

        Raises RingBrokenError.
        """
        if self._place.size == 1:
            return
        nothing = np.empty(0, np.uint8)
        is_first, is_last = self._place.rank == 0, self._place.rank == self._place.size - 1
        pending = nothing
        for piece in _pieces(arrays):
            if is_first:
                self._exchange(piece, nothing)
            else:
                self._exchange(nothing if is_last else pending, piece)
                pending = piece
        if not (is_first or is_last):
            self._exchange(pending, nothing)

    def go_around(self) -> None:
        """Return at process 0 once all processes have called this. Raises RingBrokenError."""
        token, nothing = np.zeros(1, np.uint8), np.empty(0, np.uint8)
        if self._place.size > 1:
            for out, into in ((token, nothing), (nothing, token))[:: 1 if self._place.rank == 0 else -1]:
                self._exchange(out, into)

    def close(self) -> None:
        """Close the connections, which the neighbours notice."""
        for connection in (self._next, self._previous):
            if connection is not None:
                with suppress(OSError):
                    connection.close()

    def _room(self, size: int) -> npt.NDArray[np.uint8]:
        """Return a receive buffer, which is reused: a new one would cost time in the kernel."""
        if len(self._came) < size:
            self._came = np.empty(size, np.uint8)
        return self._came[:size]

    def _exchange(self, out: npt.NDArray[Any], into: npt.NDArray[Any]) -> None:
        """Send one array to the next process and receive another from the previous one, both at once."""
        try:
            self._send_and_receive(out.view(np.uint8).data, into.view(np.uint8).data)
        except OSError as error:
            raise RingBrokenError(f"a connection to another worker has failed ({error})") from error

    def _send_and_receive(self, out: memoryview, into: memoryview) -> None:
        assert self._next is not None and self._previous is not None
        poll = select.poll()
        poll.register(self._next, select.POLLIN | select.POLLOUT)
        poll.register(self._previous, select.POLLIN)
        moved = time.monotonic()
        while out or into:
            poll.modify(self._next, select.POLLIN | (select.POLLOUT if out else 0))
            poll.modify(self._previous, select.POLLIN if into else 0)
            found = dict(poll.poll(1000 * LOOK_SECONDS))
            arrives = self._previous.fileno() in found
            if found.get(self._next.fileno(), 0) & ~select.POLLOUT and not arrives:
                raise RingBrokenError(f"the worker at {self._place.next} has left the ring")
            if found:
                moved = time.monotonic()
            elif not self._is_current():
                raise RingBrokenError("the group of workers has changed")
            elif time.monotonic() - moved > STALL_SECONDS:
                raise RingBrokenError(f"nothing came from another worker for {STALL_SECONDS:.0f} s")
            if out and self._next.fileno() in found:
                out = out[self._next.send(out) :]
            if arrives:
                count = self._previous.recv_into(into)
                if not count:
                    raise RingBrokenError("the worker before this one has left the ring")
                into = into[count:]


def _pieces(arrays: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[np.uint8]]:
    flat = [array.reshape(-1).view(np.uint8) for array in arrays]
    return [each[at : at + PIECE_BYTES] for each in flat for at in range(0, len(each), PIECE_BYTES)]


def _connected(place: RingPlace) -> socket.socket:
    try:
        connection = connect(place.next, JOINING_SECONDS)
        connection.sendall(place.key.encode())
    except OSError as error:
        raise RingBrokenError(f"the worker at {place.next} cannot be reached ({error.strerror or error})") from error
    return connection
