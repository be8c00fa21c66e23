"""Streams of several threads whose windows are computed together.

No thread is started for this: one of the threads that request posteriors leads. It waits for the streams that are due
within `MAX_WAIT`, computes all their requests, hands out the results, and passes the lead to a thread whose request has
arrived meanwhile. Decoding stays on the threads of the streams.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Sequence

import numpy as np

from ...util.parallel import call_in_forked_children
from ..engine import AcousticEngine, Piece, State
from ..layers.layer import Array

MAX_WAIT = 0.02
"""The most seconds that a stream waits for others, in addition to the time of a computation that is running."""

MOST_STREAMS = 128
"""The most streams that are computed together."""


class Scheduler:
    """Computes the requests of streams by an engine. Threads may share one; in a forked child, it starts empty."""

    _leader: Request | None
    """The request whose thread computes; no other thread computes."""

    def __init__(self, engine: AcousticEngine, max_wait: float = MAX_WAIT) -> None:
        """Take the engine; streams wait for each other for up to `max_wait` seconds."""
        self.engine = engine
        self._max_wait = max_wait
        self._begin()
        call_in_forked_children(self, Scheduler._begin)

    def stream(self) -> AcousticStream:
        """Begin an utterance."""
        stream = AcousticStream(self)
        with self._lock:
            self._streams.add(stream)
        return stream

    def run(self, request: Request) -> None:
        """Compute a request, on this thread or on that of another stream. Raise what its computation raises."""
        try:
            with self._lock:
                self._waiting.append(request)
                if self._leader is None:
                    self._leader = request
                leads = self._leader is request
                self._arrival.notify()
            if not leads:
                request.wait()
            if not request.done:
                self._lead(request)
        finally:
            self._leave(request)
        if request.error is not None:
            raise request.error

    def _begin(self) -> None:
        """Start without requests, and with locks that no thread holds."""
        self._lock = threading.Lock()
        self._arrival = threading.Condition(self._lock)
        self._waiting: list[Request] = []
        self._leader = None
        self._streams: weakref.WeakSet[AcousticStream] = weakref.WeakSet()

    def _lead(self, request: Request) -> None:
        """Compute requests until this one is done."""
        while not request.done:
            batch = self._gather()
            try:
                self._compute(batch)
            finally:  # requests that are not done, as after an interrupt of this thread, wait again
                with self._lock:
                    self._waiting[:0] = [each for each in batch if not each.done]
                    if request.done:  # the next one leads before the others wake and compete for the interpreter
                        self._pass_on(request)
                for each in batch:
                    if each.done:
                        each.wake()

    def _leave(self, request: Request) -> None:
        """Pass the lead on, if this request has it: its thread stops waiting, perhaps because it was interrupted."""
        with self._lock:
            request.abandon()
            self._waiting = [each for each in self._waiting if each is not request]
            self._pass_on(request)

    def _pass_on(self, request: Request) -> None:
        """Let another request lead, if this one does; the lock must be held."""
        if self._leader is request:
            self._leader = self._waiting[0] if self._waiting else None
            if self._leader is not None:
                self._leader.wake()

    def _gather(self) -> list[Request]:
        """Wait for the streams that are due soon; return the requests to compute next, the oldest first."""
        with self._lock:
            deadline = self._waiting[0].arrived + self._max_wait
            while (now := time.monotonic()) < deadline and self._others_due(now, deadline):
                self._arrival.wait(deadline - now)
            batch, self._waiting = self._waiting[:MOST_STREAMS], self._waiting[MOST_STREAMS:]
        return batch

    def _others_due(self, now: float, deadline: float) -> bool:
        asking = {request.stream for request in self._waiting}
        return any(now - self._max_wait < each.due < deadline for each in self._streams if each not in asking)

    def _compute(self, batch: Sequence[Request]) -> None:
        try:
            self._run(batch)
        except Exception as error:
            if len(batch) == 1:
                batch[0].error = error
                return
            for request in batch:  # one of them caused the error
                self._compute([request])

    def _run(self, batch: Sequence[Request]) -> None:
        cores_left = int(self.engine.computes_little and len(batch) > 1)  # for the streams' threads, which decode
        largest = self.engine.largest_turn
        results = self.engine.run_batch([request.next_piece(largest) for request in batch], cores_left)
        for request, (rows, state) in zip(batch, results, strict=True):
            request.take(rows, state, largest)


class AcousticStream:
    """The acoustic model's view of one utterance. It belongs to one thread at a time."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._state = scheduler.engine.initial_state()
        self._served: float | None = None
        self.due = 0.0
        """The time of this stream's next request, as estimated, on the monotonic clock; 0 if it is not known."""

    def run(self, windows: Array, *, last: bool = False) -> Array:
        """Return the posteriors for the next windows, as `AcousticEngine.run` does."""
        request = Request(self, Piece(windows, self._state, last))
        between = None if self._served is None else request.arrived - self._served
        self.due = 0.0
        self._scheduler.run(request)
        self._state = request.piece.state
        self._served = time.monotonic()
        if between is not None and not last:
            self.due = self._served + between
        return np.concatenate(request.rows)


class Request:
    """A stream's request for the posteriors of windows, and those that are computed so far."""

    def __init__(self, stream: AcousticStream, piece: Piece) -> None:
        self.stream = stream
        self.piece = piece
        self.rows: list[Array] = []
        self.error: Exception | None = None
        self.arrived = time.monotonic()
        self._computed = False
        self._abandoned = False
        self._woken = threading.Event()

    @property
    def done(self) -> bool:
        """Whether nothing is left to compute."""
        return self._computed or self._abandoned or self.error is not None

    def abandon(self) -> None:
        """Leave nothing to compute, even if a part of the request is being computed now."""
        self._abandoned = True

    def wait(self) -> None:
        """Wait until the request is done or its thread leads."""
        self._woken.wait()

    def wake(self) -> None:
        """End the wait."""
        self._woken.set()

    def next_piece(self, largest: int | None) -> Piece:
        """Return up to `largest` of the windows that are left, or all."""
        windows, state, last = self.piece
        return self.piece if largest is None else Piece(windows[:largest], state, last and len(windows) <= largest)

    def take(self, rows: Array, state: State, largest: int | None) -> None:
        """Take the posteriors of that piece, and the state after it."""
        self.rows.append(rows)
        self._computed = largest is None or len(self.piece.windows) <= largest
        rest = self.piece.windows[:0] if largest is None else self.piece.windows[largest:]
        self.piece = self.piece._replace(windows=rest, state=state)
