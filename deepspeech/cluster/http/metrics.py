"""The coordinator's figures in Prometheus' text format."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest
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
    """Return the metrics of a status as text, and their content type; a single machine has no members."""
    return render(lambda: _of_a_run(status))


class _Collected:
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def render(collect: Any) -> tuple[bytes, str]:
    """Return the metrics that `collect` yields and those of the process as text, and their content type."""
    registry = CollectorRegistry()
    registry.register(_Collected(list(collect())))
    ProcessCollector(registry=registry)
    return generate_latest(registry), CONTENT_TYPE_LATEST


def gauge(name: str, value: float, text: str) -> Metric:
    """Return a gauge without labels."""
    return GaugeMetricFamily(f"deepspeech_{name}", text, value=value)


def counter(name: str, value: float, text: str) -> Metric:
    """Return a counter without labels; its name gets the ending _total."""
    return CounterMetricFamily(f"deepspeech_{name}", text, value=value)


def by_label(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    """Return a gauge with a value for each value of a label."""
    return by_labels(name, text, (label,), {(each,): value for each, value in values.items()})


def by_labels(name: str, text: str, labels: tuple[str, ...], values: Mapping[tuple[str, ...], float]) -> Metric:
    """Return a gauge with a value for each combination of the values of several labels."""
    family = GaugeMetricFamily(f"deepspeech_{name}", text, labels=labels)
    for value_of, value in values.items():
        family.add_metric(value_of, value)
    return family


def _of_a_run(status: Mapping[str, Any]) -> Iterator[Metric]:
    opened = status["open_epoch"] or {"batches": 0, "batches_done": 0, "jobs_open": 0, "jobs_running": 0}
    if status["epochs"] is not None:  # known while weights are loaded
        yield gauge("epochs_done", status["epochs_done"], "Finished training epochs")
        yield gauge("epochs", status["epochs"], "Training epochs in all")
    for name, value, text in (
        ("epoch_batches", opened["batches"], "Batches of the open epoch"),
        ("epoch_batches_done", opened["batches_done"], "Batches of the open epoch that are counted"),
        ("utterances_per_second", status["utterances_per_second"], "Throughput of all workers"),
    ):
        yield gauge(name, value, text)
    yield by_label("loss", "Mean loss of the newest epoch, in nats", "set", _newest(status["losses"]))
    wer = {set_name: rate for set_name, _, rate in status["wer"]}
    yield by_label("word_error_rate", "Word error rate of the newest epoch for which it was counted", "set", wer)
    if status["checkpoint_age"] is not None:
        yield gauge("checkpoint_age_seconds", status["checkpoint_age"], "Seconds since the newest checkpoint was saved")
    if "members" in status:
        yield from _of_a_cluster(status, opened)


def _of_a_cluster(status: Mapping[str, Any], opened: Mapping[str, Any]) -> Iterator[Metric]:
    for name, text in COUNTERS.items():
        yield counter(name, status["counts"][name], text)
    yield counter("restarts", status["restarts"], "Times that training went back to its last checkpoint")
    phases = {phase: float(phase == status["phase"]) for phase in PHASES}
    yield by_label("phase", "1 for the phase that the run is in", "phase", phases)
    yield gauge("missing_nodes", len(status["missing"]), "Nodes that have not joined, or were lost")
    yield gauge("stalled_seconds", status["stalled_for"], "Seconds since the last result of any worker")
    yield gauge("jobs_open", opened["jobs_open"], "Jobs of the open epoch that are not handed out")
    yield gauge("jobs_running", opened["jobs_running"], "Jobs of the open epoch that are handed out")
    yield from _of_members({member["name"]: member for member in status["members"]})


def _of_members(members: Mapping[str, Mapping[str, Any]]) -> Iterator[Metric]:
    for name, field, text in (
        ("member_silent_seconds", "silent_for", "Seconds since a member's last sign of life"),
        ("member_utterances_per_second", "utterances_per_second", "Throughput of a member"),
        ("member_straggles", "straggles", "1 for a worker whose own part of a step takes far longer than the others'"),
        ("member_own_step_seconds", "own_step_seconds", "Mean seconds of a step without waiting, in the last minute"),
        ("member_sent_bytes_per_second", "sent_bytes_per_second", "Bytes a second sent in the last minute"),
        ("member_received_bytes_per_second", "received_bytes_per_second", "Bytes a second received in the last minute"),
    ):
        values = {of: float(member[field]) for of, member in members.items() if member[field] is not None}
        yield by_label(name, text, "member", values)
    parts: dict[tuple[str, ...], float] = {
        (of, each): part for of, member in members.items() for each, part in (member["time"] or {}).items()
    }
    text = "Share of a member's time that an activity took in the last minute, 0 to 1"
    yield by_labels("member_time_ratio", text, ("member", "activity"), parts)


def _newest(losses: Mapping[str, list[list[float]]]) -> dict[str, float]:
    return {name: points[-1][1] for name, points in losses.items() if points}
