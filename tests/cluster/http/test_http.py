import logging
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from served import PATIENCE, TOKEN, Served, make_service, result_of, serving

from deepspeech.cluster.coordination.errors import (
    JobLostError,
    JoinRefusedError,
    NotMemberError,
    ReplacedError,
    ResultMismatchError,
    TrainingFailedError,
    error_of_kind,
)
from deepspeech.cluster.http import application as application_module
from deepspeech.cluster.http.application import application
from deepspeech.cluster.http.libraries import SERVER_LIBRARIES
from deepspeech.cluster.http.metrics import COUNTERS
from deepspeech.cluster.http.server import ApplicationServer, Server
from deepspeech.errors import ClusterError


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as each:
        yield each


def described(served: Served) -> dict[str, Any]:
    """Return the entries of the description by path."""
    paths: dict[str, Any] = served.request("/openapi.json")[1]["paths"]
    return paths


def test_a_port_that_is_taken_is_an_error_that_names_the_flag(served: Served) -> None:
    with pytest.raises(ClusterError, match=f"--coord_port={served.port}: .* another program listens there"):
        Server(served.service, "127.0.0.1", served.port, None)


def test_a_second_server_of_a_node_does_not_let_the_first_log_its_requests_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handlers: list[logging.Handler] = []
    monkeypatch.setattr(logging.getLogger("uvicorn.access"), "addHandler", handlers.append)
    ApplicationServer(Mock(), Mock())
    assert not handlers


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x", TOKEN[:-1]])
@pytest.mark.parametrize("path", ["/v1/status", "/metrics", "/v1/jobs"])
def test_requests_without_the_token_are_refused(served: Served, path: str, token: str | None) -> None:
    body = b"{}" if path == "/v1/jobs" else None
    assert served.request(path, body, token)[0] == 401


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
def test_a_message_that_is_not_posted_is_refused(served: Served, method: str) -> None:
    paths = [path for path, methods in described(served).items() if "post" in methods]
    assert len(paths) >= 7
    for path in paths:
        assert served.request(path, method=method)[0] == 405
        assert served.request(path + "s", method=method)[0] == 404


def test_a_page_that_is_posted_is_refused_and_a_path_that_there_is_not_is_not_found(served: Served) -> None:
    for path in ("/", "/openapi.json", "/v1/status", "/metrics"):
        assert served.request(path, b"{}")[0] == 405
    for path in ("/v1", "/v1/nothing", "/page.html"):
        assert served.request(path)[0] == served.request(path, b"{}")[0] == 404


def test_each_kind_of_error_reaches_the_node_as_it_was_raised() -> None:
    errors = [JoinRefusedError, JobLostError, NotMemberError, ReplacedError, TrainingFailedError]
    for error in errors:
        assert type(error_of_kind(error.kind, "why")) is error
    assert type(error_of_kind(ResultMismatchError.kind, "why")) is JobLostError
    assert error_of_kind("token", "why") is None


def test_the_description_names_the_statuses_of_the_errors(served: Served) -> None:
    messages = {path: methods["post"] for path, methods in described(served).items() if "post" in methods}
    described_statuses = {path: set(message["responses"]) for path, message in messages.items()}
    assert str(JoinRefusedError.status) in described_statuses["/v1/join"]
    assert str(JobLostError.status) in described_statuses["/v1/steps"] & described_statuses["/v1/results"]
    assert all(str(NotMemberError.status) in statuses for statuses in described_statuses.values())


def test_a_node_needs_no_library_of_the_server() -> None:
    script = "import sys, deepspeech.cluster.http.client; print([name for name in sys.argv[1:] if name in sys.modules])"
    command = [sys.executable, "-c", script, *SERVER_LIBRARIES]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_results_for_jobs_that_were_never_handed_out_and_replays_change_nothing(served: Served) -> None:
    one, two = served.joined(0), served.joined(1)
    _, job = served.post("/v1/jobs", member=one)
    before = served.state()
    assert served.post("/v1/results", **result_of({**job, "number": 99}, one))[0] == 409
    assert served.post("/v1/results", **result_of(job, two))[0] == 409
    assert served.post("/v1/results", **result_of(job, "stranger"))[0] == 410
    assert served.post("/v1/results", **result_of(job, one, batches=[5]))[0] == 409
    assert served.state() == before
    assert served.post("/v1/results", **result_of(job, one))[0] == 200
    counted = served.state()
    assert counted != before
    assert served.post("/v1/results", **result_of(job, one))[0] == 409
    assert served.state() == counted


def test_losses_whose_sum_is_not_finite_are_refused_as_no_status_could_tell_it(served: Served) -> None:
    member = served.joined(0)
    _, job = served.post("/v1/jobs", member=member)
    for loss, status in ((1.7e308, 422), (-1.7e308, 422), (1e40, 200)):
        tally = {"utterances": 2 * len(job["batches"]), "loss_sum": loss}
        assert served.post("/v1/results", **result_of(job, member, tally=tally))[0] == status
    assert served.request("/v1/status")[0] == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"member": 1}',
        b'{"member": "m", "more": 1}',
        b'{"member": "m", "wait": 1e9}',
        b'{"member": "m", "wait": NaN}',
        b"[" * 100_000,
    ],
)
def test_what_is_not_a_request_is_refused(served: Served, body: bytes) -> None:
    status, answer = served.request("/v1/jobs", body)
    assert status == 422
    assert answer["kind"] == "invalid"


def test_a_body_that_is_too_large_is_refused(served: Served) -> None:
    body = b'{"member": "' + b"m" * (application_module.LARGEST_BODY + 1) + b'"}'
    with suppress(urllib.error.URLError):  # it may hang up before everything was sent
        assert served.request("/v1/jobs", body)[0] == 413
    assert served.request("/v1/status")[0] == 200


def test_metrics_are_in_prometheus_format(served: Served) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    served.post("/v1/jobs", member=served.joined())
    _, text = served.request("/metrics")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert families["deepspeech_jobs"].samples[0].value == 1
    assert families["deepspeech_epoch_batches"].samples[0].value == 6
    phases = {sample.labels["phase"]: sample.value for sample in families["deepspeech_phase"].samples}
    assert phases["testing"] == sum(phases.values()) == 1
    assert families["deepspeech_missing_nodes"].samples[0].value == 4
    assert families["deepspeech_stalled_seconds"].samples[0].value == 0
    (member,) = families["deepspeech_member_silent_seconds"].samples
    assert member.labels == {"member": "worker 0"}


def test_metrics_of_the_training_are_on_their_page(served: Served) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    page = (Path(__file__).parents[3] / "docs/monitoring.md").read_text(encoding="utf-8")
    served.joined()
    names = {family.name for family in text_string_to_metric_families(served.request("/metrics")[1])}
    of_training = {name for name in names if name.startswith("deepspeech_")}
    assert {name for name in of_training if f"`{name}" not in page} <= {f"deepspeech_{name}" for name in COUNTERS}


def test_who_waits_for_a_job_gets_that_of_a_worker_that_fell_silent(served: Served) -> None:
    one, two = served.joined(0), served.joined(1)
    lost = served.post("/v1/jobs", member=one)[1]
    for batch in range(1, 6):
        _, job = served.post("/v1/jobs", member=two)
        assert job["batches"] == [batch]
        served.post("/v1/results", **result_of(job, two))
    status, deadline = 202, time.monotonic() + PATIENCE
    while status == 202:
        assert time.monotonic() < deadline
        status, job = served.post("/v1/jobs", member=two, wait=2.0)
    assert (status, job["batches"]) == (200, lost["batches"])
    assert served.post("/v1/results", **result_of(lost, one))[0] == 410


schema = schemathesis.openapi.from_asgi("/openapi.json", application(make_service(), None))


@schema.parametrize()
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_no_request_that_the_description_allows_or_forbids_upsets_the_server(case: Any) -> None:
    response = case.call()
    case.validate_response(response, checks=[not_a_server_error])
    assert response.status_code < 500


def test_the_page_needs_nothing_from_outside() -> None:
    files = [path.read_text(encoding="utf-8") for path in (Path(application_module.__file__).parent / "page").iterdir()]
    assert len(files) >= 4
    for page in files:
        assert "http://" not in page.replace("http://www.w3.org", "")
        assert "https://" not in page


def test_a_worker_that_joins_wakes_nobody_who_waits_unless_it_gives_jobs_back(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[str] = []
    monkeypatch.setattr(served.service, "changed", lambda: woken.append("everybody"))
    monkeypatch.setattr(served.service, "work_returned", lambda: woken.append("those who wait for a job"))
    one = served.joined(0)
    served.joined(1)
    served.joined(1)
    assert woken == []
    served.post("/v1/jobs", member=one)
    served.joined(0)
    assert woken == ["those who wait for a job"]
