"""Traces of steps, one trace a step over all nodes: the chief begins it on request, and the workers add their spans.

step ─┬─ worker 0 ─┬─ feeding
      │            ├─ waiting
      │            └─ computing
      ├─ worker 1 ─ …
      └─ applying
"""

import threading
from collections.abc import Sequence
from typing import Any

from ...util.monitoring.time_use import Interval
from ..coordination.errors import TracingOffError
from .spans import Spans

OPEN_STEPS = 4
"""Most steps that may be open; older ones never ended, because a node was lost, and are dropped."""


class StepTraces:
    """The steps that the chief traces; any thread may call the methods."""

    def __init__(self, spans: Spans | None = None) -> None:
        """Write to `spans`; without it, no step can be traced."""
        self._spans = spans
        self._lock = threading.Lock()
        self._asked = 0
        self._newest = -1
        self._open: dict[int, Any] = {}

    def request(self, steps: int) -> None:
        """Trace this many steps, from the next one on. Raise TracingOffError if there is no collector."""
        if self._spans is None:
            raise TracingOffError(
                "the chief has no collector of traces; start it with --trace_endpoint, and without OTEL_SDK_DISABLED"
            )
        with self._lock:
            self._asked = steps

    def parent_of(self, number: int, now: float) -> str | None:
        """Return the `traceparent` of the round of this number, which a worker begins; None if it is not traced.

        A round that another worker began before the request for traces is not traced, because that worker's spans would
        be missing.
        """
        if self._spans is None:
            return None
        with self._lock:
            first = number > self._newest
            self._newest = max(self._newest, number)
            span = self._open.get(number)
            if first and self._asked:
                self._asked -= 1
                span = self._open[number] = self._spans.begin("step", now, round=number)
                for older in sorted(self._open)[:-OPEN_STEPS]:
                    del self._open[older]
        return None if span is None else self._spans.traceparent(span)

    def ended(self, number: int, applied_from: float, now: float, gradients: int) -> None:
        """End the trace of a round; its gradients were applied, or discarded if `gradients` is 0, until now."""
        with self._lock:
            span = self._open.pop(number, None)
        if span is None or self._spans is None:
            return
        name = "applying" if gradients else "discarding"
        self._spans.write(name, applied_from, now, self._spans.traceparent(span), gradients=gradients)
        self._spans.end(span, now)


def write_step(spans: Spans, node: str, parent: str, intervals: Sequence[Interval]) -> None:
    """Write a worker's part of a step as a child of `parent`: a span of the node's name, and one for each interval."""
    if not intervals:
        return
    own = spans.write(node, intervals[0].begin, intervals[-1].end, parent)
    for interval in intervals:
        spans.write(interval.activity.value, interval.begin, interval.end, own)
