"""The monitoring of a cluster of real processes: probes, metrics, traces of steps, and logs as JSON lines."""

import json
import signal
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from nodes import PATIENCE, Cluster, steps_counted
from program import Program

from benchmarks.processes.ports import free_ports


@contextmanager
def collector() -> Iterator[tuple[str, list[Any]]]:
    """Yield the address of a collector of OpenTelemetry traces, and the spans that it receives, with their nodes."""
    messages = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    spans: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/traces"
            request = messages.ExportTraceServiceRequest.FromString(body)
            for of_resource in request.resource_spans:
                told = {each.key: each.value.string_value for each in of_resource.resource.attributes}
                spans.extend(
                    (told["service.instance.id"], span) for scope in of_resource.scope_spans for span in scope.spans
                )
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", spans
        server.shutdown()


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def trace(cluster: Cluster, steps: int) -> None:
    body = json.dumps({"steps": steps}).encode()
    url, headers = f"http://localhost:{cluster.port}/v1/trace", {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=PATIENCE).close()


@pytest.mark.parametrize("asked", [["--log_format=json"], ["--log_format", "json"]])
def test_what_is_wrong_with_the_flags_is_a_json_line_too(program: Program, asked: list[str]) -> None:
    finished = program.run("--learning_rate=-1", *asked)
    told = json.loads(finished.stderr)
    assert (finished.code, told["level"], told["node"]) == (1, "error", "localhost")
    assert told["message"].startswith("--learning_rate=-1")


def at_work(status: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the workers that have reported their time use since they did a step."""
    workers = [member for member in status["members"] if member["name"].startswith("worker") and member["time"]]
    told = ("own_step_seconds", "sent_bytes_per_second")
    return [each for each in workers if each["time"]["computing"] > 0 and all(each[name] for name in told)]


def have_come(spans: Sequence[tuple[str, Any]], steps: int) -> bool:
    """Return whether all spans of two workers in each of the steps have arrived: they are sent in several messages."""
    told = {(node, span.trace_id, span.name) for node, span in list(spans) if node in ("worker 0", "worker 1")}
    count = Counter("worker" if name == node else name for node, _, name in told)
    return all(count[part] >= 2 * steps for part in ("worker", "waiting", "computing"))


def test_operators_see_how_each_node_does_and_why_training_restarted(program: Program) -> None:
    flags = [
        *program.training(epoch=1000, train_batch_size=2, validation_step=0),
        "--checkpoint_secs=1",
        "--coord_lease_secs=4",
    ]
    with collector() as (address, spans), Cluster(program, [*flags, "--log_format=json"]) as cluster:
        ports = dict(zip(cluster.names, free_ports(3), strict=True))
        for name, port in ports.items():
            cluster.start(name, flags=[f"--probe_port={port}", f"--trace_endpoint={address}"])
        for port in ports.values():
            cluster.until(lambda port=port: get(port, "/readyz")[0] == 200)  # type: ignore[misc]
            assert get(port, "/healthz") == (200, "ok\n")
        status = cluster.wait_for(
            lambda told: steps_counted(5)(told) and told["checkpoint_age"] is not None and len(at_work(told)) == 2
        )
        assert all(sum(worker["time"].values()) == pytest.approx(1, abs=0.01) for worker in at_work(status))
        assert status["events"][-1]["what"] == "training begins"
        figures = get(ports["worker 1"], "/metrics")[1]
        assert 'deepspeech_node_info{name="worker 1"' in figures
        assert float(figures.split("\ndeepspeech_step_seconds_count ")[1].split()[0]) > 0
        assert float(
            get(ports["ps 0"], "/metrics")[1].split("\ndeepspeech_network_received_bytes_total ")[1].split()[0]
        )

        trace(cluster, 2)
        cluster.wait_for(lambda _: len([span for _, span in spans if span.name == "step"]) == 2)
        roots = {span.trace_id: span for node, span in spans if span.name == "step" and node == "worker 0"}
        cluster.wait_for(lambda _: have_come(spans, steps=2))
        for identity, root in roots.items():
            below = {span.name for _, span in spans if span.parent_span_id == root.span_id}
            assert below == {"worker 0", "worker 1", "applying"}
            for node in ("worker 0", "worker 1"):
                names = {span.name for of, span in spans if (of, span.trace_id) == (node, identity)}
                assert {"computing", "waiting"} <= names

        cluster.kill("ps 0")
        cluster.wait_for(lambda told: told["phase"] == "waiting")
        assert get(cluster.port, "/readyz") == (503, "waiting\n")
        cluster.start("ps 0")
        status = cluster.wait_for(lambda told: told["phase"] == "training" and told["restarts"])
        told = [event["what"] for event in status["events"]]
        assert any(what.startswith("back to the last checkpoint: ") for what in told)
        assert told[0].startswith("training goes on ") or told[0].startswith("worker "), told
        cluster.processes["worker 0"].send_signal(signal.SIGTERM)
        cluster.wait("worker 0", "worker 1")
        for name in ("worker 0", "worker 1"):
            lines = [json.loads(line) for line in cluster.log(name).splitlines() if line.startswith("{")]
            assert {line["node"] for line in lines} == {name}
            assert {"time", "level", "logger", "node", "message"} <= set(lines[0])
            assert not [line for line in cluster.log(name).splitlines() if line.startswith(("I ", "W ", "deepspeech:"))]
        assert any(
            "interrupted; saved in" in json.loads(line)["message"]
            for line in cluster.log("worker 0").splitlines()
            if line.startswith("{")
        )
