"""The figures of one node in Prometheus' text format."""

from collections.abc import Iterator
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, InfoMetricFamily, Metric

from ... import __version__
from ...util.monitoring.time_use import DURATION_BOUNDS, Durations
from ..http.metrics import by_label, counter, render
from .node_record import NodeRecord, NodeState


def render_node(record: NodeRecord) -> tuple[bytes, str]:
    """Return the metrics of a node's record as text, and their content type."""
    return render(lambda: _of_a_node(record))


def _of_a_node(record: NodeRecord) -> Iterator[Metric]:
    yield InfoMetricFamily("deepspeech_node", "This node", value={"name": record.name, "version": __version__})
    states = {state.value: float(state is record.state) for state in NodeState}
    yield by_label("node_state", "1 for the state that the node is in", "state", states)
    yield counter("joins", record.joined, "Times that the node joined the training")
    seconds = CounterMetricFamily(
        "deepspeech_time_seconds", "Seconds of each activity of the training thread", labels=["activity"]
    )
    for activity, spent in record.time_use.seconds().items():
        seconds.add_metric([activity.value], spent)
    yield seconds
    text = "Seconds of a training step: waiting for its round and computing"
    yield _histogram("step_seconds", record.time_use.steps, text)
    yield _histogram("round_wait_seconds", record.time_use.round_waits, "Seconds that a step waited for its round")
    traffic = record.network.look()
    yield counter("network_sent_bytes", traffic.sent, "Bytes sent over TCP, TensorFlow's included")
    yield counter("network_received_bytes", traffic.received, "Bytes received over TCP, TensorFlow's included")


def _histogram(name: str, durations: Durations, text: str) -> Metric:
    bounds = [*map(str, DURATION_BOUNDS), "+Inf"]
    buckets = [(bound, float(count)) for bound, count in zip(bounds, accumulate(durations.counts), strict=True)]
    return HistogramMetricFamily(f"deepspeech_{name}", text, buckets=buckets, sum_value=durations.sum)
