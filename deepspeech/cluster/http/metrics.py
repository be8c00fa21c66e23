"""The coordinator's figures in Prometheus' text format."""

from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

COUNTERS = {
    "jobs": "Jobs handed out",
    "results": "Results accepted",
    "refusals": "Results refused",
    "lost_members": "Members that fell silent",
    "lost_jobs": "Jobs that members lost",
    "steps": "Synchronous steps applied",
}


PHASES = ("waiting", "training", "testing", "over", "failed", "stopped")


def render_metrics(status: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return the text, and its content type, of a status; a single machine has no members."""
    registry = CollectorRegistry()
    registry.register(_Collector(status))
    return generate_latest(registry), CONTENT_TYPE_LATEST


class _Collector:
    def __init__(self, status: Mapping[str, Any]) -> None:
        self._status = status

    def collect(self) -> Iterable[Metric]:
        status = self._status
        opened = status["open_epoch"] or {"batches": 0, "batches_done": 0, "jobs_open": 0, "jobs_running": 0}
        for name, value, text in (
            ("epochs_done", status["epochs_done"] or 0, "Finished training epochs"),
            ("epochs", status["epochs"] or 0, "Training epochs in all"),
            ("epoch_batches", opened["batches"], "Batches of the open epoch"),
            ("epoch_batches_done", opened["batches_done"], "Batches of the open epoch that are counted"),
            ("utterances_per_second", status["utterances_per_second"], "Throughput of all workers"),
        ):
            yield _gauge(name, value, text)
        yield _by_label("loss", "Mean loss of the newest epoch, in nats", "set", _newest(status["losses"]))
        wer = {set_name: rate for set_name, _, rate in status["wer"]}
        yield _by_label("word_error_rate", "Word error rate of the newest report", "set", wer)
        if "members" in status:
            yield from self._of_a_cluster(opened)

    def _of_a_cluster(self, opened: Mapping[str, Any]) -> Iterable[Metric]:
        status = self._status
        for name, text in COUNTERS.items():
            yield CounterMetricFamily(f"deepspeech_{name}", text, value=status["counts"][name])
        phases = {phase: float(phase == status["phase"]) for phase in PHASES}
        yield _by_label("phase", "1 for the phase that the run is in", "phase", phases)
        yield _gauge("missing_nodes", len(status["missing"]), "Nodes that have not joined, or were lost")
        yield _gauge("stalled_seconds", status["stalled_for"], "Seconds since the last result of any worker")
        yield _gauge("jobs_open", opened["jobs_open"], "Jobs of the open epoch that are not handed out")
        yield _gauge("jobs_running", opened["jobs_running"], "Jobs of the open epoch that are handed out")
        silence = {member["name"]: member["silent_for"] for member in status["members"]}
        yield _by_label("member_silent_seconds", "Seconds since a member's last sign of life", "member", silence)
        throughput = {member["name"]: member["utterances_per_second"] for member in status["members"]}
        yield _by_label("member_utterances_per_second", "Throughput of a member", "member", throughput)


def _newest(losses: Mapping[str, list[list[float]]]) -> dict[str, float]:
    return {name: points[-1][1] for name, points in losses.items() if points}


def _gauge(name: str, value: float, text: str) -> Metric:
    return GaugeMetricFamily(f"deepspeech_{name}", text, value=value)


def _by_label(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(f"deepspeech_{name}", text, labels=[label])
    for value_of, value in values.items():
        family.add_metric([value_of], value)
    return family
