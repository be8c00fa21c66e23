"""What OpenTelemetry's variables change in the spans of a node."""

import pytest

from deepspeech.cluster.monitoring.spans import Spans, spans_to
from deepspeech.cluster.monitoring.step_traces import StepTraces

NOWHERE = "http://127.0.0.1:9"

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")


def test_no_step_is_traced_where_the_environment_turns_opentelemetry_off(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "True")
    with caplog.at_level("INFO", "deepspeech"), spans_to(NOWHERE, "worker 0") as spans:
        assert spans is None
    assert "OTEL_SDK_DISABLED" in caplog.text


def test_a_step_that_the_environment_does_not_sample_has_an_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    with spans_to(NOWHERE, "worker 0") as spans:
        traces = StepTraces(spans)
        traces.request(1)
        parent = traces.parent_of(0, 1.0)
        assert spans is not None and parent is not None
        assert spans.write("computing", 1.0, 2.0, parent)
        traces.ended(0, 2.0, 3.0, gradients=1)


def resource_of(spans: Spans | None) -> dict[str, str]:
    assert spans is not None
    return dict(spans.begin("step", 1.0).resource.attributes)


def test_the_environment_describes_the_node_to_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    with spans_to(NOWHERE, "worker 0") as spans:
        told = resource_of(spans)
    assert (told["service.name"], told["service.instance.id"]) == ("deepspeech", "worker 0")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "night-run")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=laboratory,service.instance.id=rack 7")
    with spans_to(NOWHERE, "worker 0") as spans:
        told = resource_of(spans)
    assert (told["service.name"], told["service.instance.id"]) == ("night-run", "rack 7")
    assert told["deployment.environment"] == "laboratory"
