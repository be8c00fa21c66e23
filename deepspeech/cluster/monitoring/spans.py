"""OpenTelemetry spans, sent to a collector over HTTP. Times are those of `time.monotonic`, in seconds."""

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ... import __version__
from ...errors import ClusterError
from ...util.web.libraries import check_libraries

logger = logging.getLogger("deepspeech")

LIBRARIES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")

COLLECTOR_PATH = "/v1/traces"
"""The path at which a collector takes spans, if the address has none."""

EXPORT_SECONDS = 5.0
"""Seconds that sending a batch of spans may take."""

TRACEPARENT = "traceparent"

DISABLED = "OTEL_SDK_DISABLED"
"""Variable of OpenTelemetry that turns its library off; its spans have no `traceparent` then."""


class Spans:
    """Writes the spans of one node."""

    def __init__(self, provider: Any) -> None:
        """Write to a `TracerProvider`."""
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self._tracer = provider.get_tracer("deepspeech", __version__)
        self._propagator = TraceContextTextMapPropagator()

    def begin(self, name: str, at: float, parent: str | None = None, **attributes: str | int) -> Any:
        """Begin a span at a time, as a child of `parent`, a W3C `traceparent`, if given; end it with `end`."""
        context = self._propagator.extract({TRACEPARENT: parent} if parent else {})
        return self._tracer.start_span(name, context=context, start_time=_nanoseconds(at), attributes=attributes)

    def end(self, span: Any, at: float) -> None:
        """End a span at a time."""
        span.end(end_time=_nanoseconds(at))

    def write(self, name: str, begin: float, end: float, parent: str, **attributes: str | int) -> str:
        """Write a complete span; return its `traceparent`."""
        span = self.begin(name, begin, parent, **attributes)
        self.end(span, end)
        return self.traceparent(span)

    def traceparent(self, span: Any) -> str:
        """Return the W3C `traceparent` with which others make their spans children of this one."""
        from opentelemetry.trace import set_span_in_context

        carrier: dict[str, str] = {}
        self._propagator.inject(carrier, set_span_in_context(span))
        return carrier[TRACEPARENT]


@contextmanager
def spans_to(endpoint: str, node: str) -> Iterator[Spans | None]:
    """Yield the writer of the node's spans to a collector; None without an endpoint, or if the environment disables it.

    Spans are sent on a separate thread, the last ones at the end of the context. They are dropped if the collector does
    not keep up. OpenTelemetry's variables for the resource, such as OTEL_SERVICE_NAME, replace what describes the node
    here. Raise ClusterError if the libraries are missing.
    """
    disabled = os.environ.get(DISABLED, "").strip().lower() == "true"
    if endpoint and disabled:
        logger.info("No step can be traced: %s is true in the environment", DISABLED)
    if disabled or not endpoint:
        yield None
        return
    check_libraries("--trace_endpoint", LIBRARIES, "tracing", ClusterError)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    described = {"service.name": "deepspeech", "service.version": __version__, "service.instance.id": node}
    resource = Resource.create(described).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=_with_path(endpoint), timeout=EXPORT_SECONDS)
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=500))
    try:
        yield Spans(provider)
    finally:
        provider.force_flush(int(1000 * EXPORT_SECONDS))
        provider.shutdown()


def _with_path(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    return endpoint if parts.path.strip("/") else urlunsplit(parts._replace(path=COLLECTOR_PATH))


def _nanoseconds(at: float) -> int:
    """Return a time of `time.monotonic` as nanoseconds since the epoch."""
    return time.time_ns() - time.monotonic_ns() + int(at * 1e9)
