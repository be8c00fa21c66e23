"""Which steps of a cluster are traced."""

import pytest

from deepspeech.cluster.coordination.errors import TracingOffError
from deepspeech.cluster.monitoring.spans import Spans
from deepspeech.cluster.monitoring.step_traces import StepTraces


def test_a_step_is_traced_by_all_its_workers_or_by_none() -> None:
    provider = pytest.importorskip("opentelemetry.sdk.trace").TracerProvider()
    traces = StepTraces(Spans(provider))
    assert traces.parent_of(0, 1.0) is None
    traces.request(2)
    assert traces.parent_of(0, 1.5) is None
    parents = [traces.parent_of(number, 2.0 + number) for number in (2, 2, 4, 4, 6)]
    assert parents[0] == parents[1] is not None
    assert parents[2] == parents[3] is not None
    assert parents[0] != parents[2]
    assert parents[4] is None
    traces.request(1)
    assert traces.parent_of(6, 9.0) is None
    assert traces.parent_of(8, 9.5) is not None


def test_without_a_collector_no_step_is_traced() -> None:
    traces = StepTraces()
    assert traces.parent_of(0, 1.0) is None
    with pytest.raises(TracingOffError, match="--trace_endpoint"):
        traces.request(1)
