"""A process's own copy of the weights, which makes the same steps as those of the other workers."""

import logging
import threading
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .graph import AllReduceGraph
from .ring import IsCurrent, Ring, RingBrokenError, RingListener, RingPlace

traffic = logging.getLogger("deepspeech.traffic")

LOOK_SECONDS = 0.5
"""Seconds between checks of whether the expected weights can still come."""

CACHE_LINE_BYTES = 64


class Replica:
    """The weights in a session of this process; their number is that of the order that produced them.

    One thread carries out the orders, and any thread may wait for them. All threads of this process use `session`.
    """

    def __init__(self, graph: AllReduceGraph, session: Any, listener: RingListener, sent_as: str = "float32") -> None:
        """Begin without weights; gradients are sent as the type `sent_as`, float32 or bfloat16."""
        self.session = session
        self._graph = graph
        self._listener = listener
        self._sent_as = sent_as
        self._ring: Ring | None = None
        self._mean = _aligned(graph.mean.shape.num_elements() if graph.mean is not None else 0)
        self._number = 0
        self._changed = threading.Condition()
        session.run(graph.begin)

    def forget(self) -> None:
        """Treat the weights as absent, for a new membership: their numbers may start again."""
        self._reach(0)

    def form(self, number: int, place: RingPlace, is_current: IsCurrent) -> None:
        """Connect to a ring and copy the weights of its first process. Raises RingBrokenError."""
        self.leave_ring()
        graph, self._ring = self._graph, self._listener.join(place, is_current)
        if place.rank == 0:
            self._in_ring(lambda ring: ring.copy_from_first(self._values()))
        else:
            values: list[npt.NDArray[Any]] = [
                np.empty(given.shape.as_list(), given.dtype.as_numpy_dtype) for given in graph.given
            ]
            self._in_ring(lambda ring: ring.copy_from_first(values))
            self.session.run(graph.take_values, dict(zip(graph.given, values, strict=True)))
        self._in_ring(lambda ring: ring.go_around())
        self._reach(number)

    def step(self, number: int, round_number: int, learning_rate: float) -> int:
        """Make the step of a round with the gradients of the whole ring; return the number of their utterances.

        If this raises RingBrokenError, the weights are unchanged.
        """
        graph = self._graph
        kept_round, count, kept = self.session.run([graph.kept_round, graph.kept_count, graph.kept])
        if kept_round != round_number:
            count, kept = 0, np.zeros_like(kept)
        utterances, mean = np.empty(1), self._mean
        self._in_ring(lambda ring: ring.add_up(np.array([count], np.float64), utterances))
        self._in_ring(lambda ring: ring.add_up(kept, mean, divisor=float(utterances[0]), sent_as=self._sent_as))
        self.session.run(graph.apply, {graph.mean: mean, graph.training.learning_rate: learning_rate})
        self._reach(number)
        return int(utterances[0])

    def leave_ring(self) -> None:
        """Close the ring's connections, which the neighbours see."""
        if self._ring is not None:
            self._ring.close()
            self._ring = None

    def wait_for(self, number: int, is_current: Callable[[], bool]) -> bool:
        """Wait for the weights of this number, or later ones; return False if `is_current` returns False before."""
        with self._changed:
            while self._number < number:
                if not is_current():
                    return False
                self._changed.wait(LOOK_SECONDS)
        return True

    def _values(self) -> list[npt.NDArray[Any]]:
        return [np.ascontiguousarray(value) for value in self.session.run(list(self._graph.values))]

    def _in_ring(self, act: Callable[[Ring], object]) -> None:
        ring = self._ring
        if ring is None:
            raise RingBrokenError("this worker is in no ring")
        try:
            act(ring)
        except RingBrokenError:
            self.leave_ring()
            raise

    def _reach(self, number: int) -> None:
        with self._changed:
            self._number = number
            self._changed.notify_all()
        if number and traffic.isEnabledFor(logging.INFO):
            digest = 0
            for value in self._values():
                digest = zlib.crc32(value.tobytes(), digest)
            traffic.info("weights %d: %08x", number, digest)


def _aligned(count: int) -> npt.NDArray[np.float32]:
    """Return an array that begins at a cache line, so that TensorFlow is fed with it without a copy."""
    room = np.empty(4 * count + CACHE_LINE_BYTES, np.uint8)
    begin = -room.ctypes.data % CACHE_LINE_BYTES
    return room[begin : begin + 4 * count].view(np.float32)
