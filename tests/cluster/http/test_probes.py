"""Probes and metrics of nodes, of the coordinator and of the page of one machine."""

import json
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from served import PATIENCE, Served, serving

from benchmarks.processes.ports import free_ports
from deepspeech.cli import flags
from deepspeech.cluster.http import libraries
from deepspeech.cluster.monitoring.metrics import render_node
from deepspeech.cluster.monitoring.node_probes import node_probes
from deepspeech.cluster.monitoring.node_record import NodeRecord, NodeState
from deepspeech.cluster.status_page import status_page
from deepspeech.errors import ClusterError, FlagError
from deepspeech.options import ClusterOptions, Options, flags_of
from deepspeech.options.monitoring import ProbeOptions
from deepspeech.util.monitoring.time_use import Activity


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as started:
        yield started


def get(port: int, path: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def figures(text: str) -> dict[str, float]:
    """Return the figures of a text in Prometheus' format, by name and labels."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation, f"{family.name} has no HELP"
        assert family.type in ("gauge", "counter", "histogram", "info"), f"{family.name} has no TYPE"
        for sample in family.samples:
            if family.type == "counter":
                assert sample.name.endswith("_total"), sample.name
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            key = f"{sample.name}{{{labels}}}" if labels else sample.name
            assert key not in found, f"{key} is told twice"
            found[key] = sample.value
    return found


def test_a_node_answers_probes_and_tells_its_figures() -> None:
    (port,) = free_ports(1)
    record = NodeRecord("worker 1")
    with node_probes(ProbeOptions(port=port), ClusterOptions(), record):
        assert get(port, "/healthz") == (200, "ok\n")
        assert get(port, "/readyz") == (503, "starting\n")
        record.state = NodeState.JOINING
        assert get(port, "/readyz") == (503, "joining\n")
        record.note_joined()
        assert get(port, "/readyz") == (200, "ok\n")
        with record.time_use.timed(record.time_use.steps), record.time_use.during(Activity.COMPUTING):
            pass
        status, text = get(port, "/metrics")
        assert status == 200
        told = figures(text)
        assert told["deepspeech_node_state{state=ready}"] == 1
        assert told["deepspeech_joins_total"] == 1
        assert told["deepspeech_step_seconds_count"] == told["deepspeech_step_seconds_bucket{le=+Inf}"] == 1
        assert told["deepspeech_time_seconds_total{activity=computing}"] >= 0
        assert told["deepspeech_network_received_bytes_total"] > 0
        assert told["process_resident_memory_bytes"] > 0
        assert any(name.startswith("deepspeech_node_info{name=worker 1") for name in told)
        assert get(port, "/metrics", Host="evil.example")[0] == 403
        assert get(port, "/metrics", Origin="http://evil.example")[0] == 403
        assert get(port, "/healthz", Host="10.1.2.3:8080")[0] == 200  # as a kubelet asks
        assert get(port, "/v1/status")[0] == 404


def test_beyond_this_machine_metrics_need_the_secret_and_probes_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEEPSPEECH_COORD_TOKEN", raising=False)
    (port,) = free_ports(1)
    everywhere = ProbeOptions(port=port, host="0.0.0.0")
    with (
        pytest.raises(FlagError, match=r"--probe_host=0\.0\.0\.0: .* give --coord_token_file"),
        node_probes(everywhere, ClusterOptions(), NodeRecord()),
    ):
        pass
    secret = "a secret of enough characters"
    (tmp_path / "token").write_text(secret)
    with node_probes(everywhere, ClusterOptions(token_file=tmp_path / "token"), NodeRecord()):
        assert get(port, "/healthz")[0] == 200
        assert get(port, "/readyz")[0] == 503
        assert get(port, "/metrics")[0] == 401
        assert get(port, "/metrics", Authorization="Bearer another secret")[0] == 401
        assert get(port, "/metrics", Authorization=secret)[0] == 401
        assert get(port, "/metrics", Authorization=f"Bearer {secret}")[0] == 200
        assert get(port, "/metrics", Authorization=f"bearer {secret}")[0] == 200


def test_a_port_that_is_taken_and_libraries_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        options = ProbeOptions(port=taken.getsockname()[1], host="127.0.0.1")
        with (
            pytest.raises(FlagError, match=f"--probe_port={options.port}: .*choose another port"),
            node_probes(options, ClusterOptions(), NodeRecord()),
        ):
            pass
    monkeypatch.setattr(libraries, "SERVER_LIBRARIES", ("no_such_library",))
    with (
        pytest.raises(ClusterError, match=r"--probe_port needs no_such_library: .* extra `cluster`"),
        node_probes(ProbeOptions(port=1), ClusterOptions(), NodeRecord()),
    ):
        pass


def test_the_coordinator_answers_probes_without_its_secret_and_tells_the_phase(served: Served) -> None:
    assert served.request("/healthz", token=None) == (200, "ok\n")
    assert served.request("/readyz", token=None) == (200, "ok\n")
    with served.service.locked() as coordinator:
        coordinator.suspend()
    assert served.request("/readyz", token=None) == (503, "waiting\n")
    with served.service.locked() as coordinator:
        coordinator.fail("the loss is not finite")
    assert served.request("/readyz", token=None) == (503, "failed\n")
    assert served.request("/healthz", token=None)[0] == 200
    described = served.request("/openapi.json")[1]["paths"]
    assert set(described["/readyz"]["get"]["responses"]) == {"200", "503"}


def test_what_members_report_is_told_of_each_by_name_and_what_is_no_report_is_refused(served: Served) -> None:
    slow, fast = served.joined(1), served.joined(0)
    minute = {"computing": 20.0, "feeding": 4, "waiting": 36, "decoding": 0, "other": 0}
    counted = {"own_seconds_of_steps": 24, "steps": 48, "sent_bytes": 6_000_000, "received_bytes": 600}
    busy = {**minute, "computing": 50.0, "waiting": 6.0}
    slowly = {**counted, "own_seconds_of_steps": 48}
    assert served.post("/v1/heartbeat", member=fast, times={**minute, **counted})[0] == 200
    assert served.post("/v1/heartbeat", member=slow, times={**busy, **slowly})[0] == 200
    assert served.post("/v1/heartbeat", member=slow)[0] == 200  # a sign of life without a report keeps the last one
    for wrong in ({"steps": -1}, {"computing": 1e10}, {"computing": "1"}, {"sleeping": 1.0}):
        assert served.post("/v1/heartbeat", member=fast, times={**minute, **counted, **wrong})[0] == 422
    with served.service.locked() as coordinator:
        coordinator.chronicle.checkpoint_at = served.service.clock() - 50
        coordinator.chronicle.note_restart(served.service.clock(), "ps 0 was lost")
    _, status = served.request("/v1/status")
    one, other = status["members"]
    assert one["time"] == {"computing": 0.3333, "feeding": 0.0667, "waiting": 0.6, "decoding": 0, "other": 0}
    assert (one["own_step_seconds"], one["straggles"], one["sent_bytes_per_second"]) == (0.5, False, 100_000)
    assert other["straggles"]
    assert status["events"][0]["what"] == "back to the last checkpoint: ps 0 was lost"
    assert 50 <= status["checkpoint_age"] < 500
    told = figures(served.request("/metrics")[1])
    assert told["deepspeech_member_time_ratio{activity=waiting,member=worker 0}"] == 0.6
    assert told["deepspeech_member_straggles{member=worker 1}"] == 1
    assert told["deepspeech_member_straggles{member=worker 0}"] == 0
    assert told["deepspeech_restarts_total"] == 1
    assert told["deepspeech_checkpoint_age_seconds"] >= 50


def test_epochs_are_not_told_to_be_0_while_the_chief_waits_for_a_lost_parameter_server(served: Served) -> None:
    assert figures(served.request("/metrics")[1])["deepspeech_epochs_done"] == 0
    with served.service.locked() as coordinator:
        coordinator.suspend()
    told = figures(served.request("/metrics")[1])
    assert told["deepspeech_phase{phase=waiting}"] == 1
    assert not {"deepspeech_epochs_done", "deepspeech_epochs"} & told.keys()


def test_the_page_of_one_machine_answers_probes_too() -> None:
    (port,) = free_ports(1)
    with status_page(port):
        assert get(port, "/healthz") == (200, "ok\n")
        assert get(port, "/readyz") == (503, "preparing\n")
        assert json.loads(get(port, "/v1/status")[1])["checkpoint_age"] is None
        figures(get(port, "/metrics")[1])


def test_every_metric_that_the_page_on_monitoring_names_is_told(served: Served) -> None:
    page = (Path(__file__).parents[3] / "docs/monitoring.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\bdeepspeech_[a-z_]+", page))
    told = served.request("/metrics")[1] + render_node(NodeRecord())[0].decode()
    missing = [name for name in named if name not in told and name != "deepspeech_checkpoint_age_seconds"]
    assert len(named) > 15
    assert not missing
    flags_named = set(re.findall(r"--([a-z]+_[a-z_]+)", page))
    assert {"probe_port", "probe_host", "trace_endpoint", "log_format"} <= flags_named
    assert flags_named <= {row.name for row in flags_of(Options)} | {"status_port"}


def test_every_field_of_the_status_is_on_the_page_about_clusters(served: Served) -> None:
    page = (Path(__file__).parents[3] / "docs/cluster.md").read_text(encoding="utf-8")
    _, table = page.split("| field of `/v1/status` |")
    rows = dict(re.findall(r"^\| (`.*?) \| (.*) \|$", table.partition("\n\n")[0], re.MULTILINE))
    served.post("/v1/jobs", member=served.joined(), wait=0.0)
    status = served.request("/v1/status")[1]
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(status)
    assert set(status["members"][0]) <= set(re.findall(r"`(\w+)`", rows["`members`"]))
    assert set(status["open_epoch"]) <= set(re.findall(r"`(\w+)`", rows["`open_epoch`"]))
    assert set(status["counts"]) <= set(re.findall(r"`(\w+)`", rows["`counts`"]))


def test_an_address_of_a_collector_that_is_none_is_refused() -> None:
    cluster = ["--ps_hosts=a:1", "--worker_hosts=b:1", "--job_name=worker", "--train_files=a.csv"]
    for address in ("localhost:4318", "http://", "ftp://a"):
        with pytest.raises(FlagError, match=r"--trace_endpoint=.*such as http://localhost:4318"):
            flags.parse([*cluster, f"--trace_endpoint={address}"])
    with pytest.raises(FlagError, match="--trace_endpoint: only the steps of a cluster"):
        flags.parse(["--train_files=a.csv", "--trace_endpoint=http://localhost:4318"])
