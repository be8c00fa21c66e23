"""How a node handles the coordinator's answers, lost answers, and answers of another server."""

import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from served import TOKEN, Served, serving

from deepspeech.cluster.coordination.errors import JoinRefusedError, TrainingFailedError
from deepspeech.cluster.coordination.membership import Applicant, Role
from deepspeech.cluster.http import client
from deepspeech.cluster.http.client import Address, Connection, RemoteCoordinator, join
from deepspeech.errors import ClusterError
from deepspeech.schedule.coordinator import NoJob
from deepspeech.schedule.jobs import Job, JobResult, Tally


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as each:
        yield each


def test_a_worker_gets_jobs_hands_in_results_and_learns_that_training_is_over(served: Served) -> None:
    connection = served.connection()
    membership = join(connection, Applicant(Role.WORKER, 0, "p", {"n_hidden": "48"}))
    coordinator = RemoteCoordinator(connection, membership)
    done: list[int] = []
    while isinstance(job := coordinator.next_job(), Job):
        coordinator.submit(JobResult(job, job.batches, Tally(2, 1.0)))
        done += job.batches
    assert job is NoJob.OVER
    assert done == list(range(6))
    membership.leave()


def test_a_worker_gets_the_job_whose_answer_was_lost_on_its_way(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = Connection(Address("127.0.0.1", served.port, TOKEN, retries=1000))
    membership = join(connection, Applicant(Role.WORKER, 0, "p", {"n_hidden": "48"}))
    coordinator = RemoteCoordinator(connection, membership)
    answered = HTTPConnection.getresponse
    lost: list[bytes] = []

    def lose_one_in_two(self: HTTPConnection) -> HTTPResponse:
        response = answered(self)
        if len(lost) < len(done) + 1:
            lost.append(response.read())
            raise ConnectionResetError("the answer was lost on its way")
        return response

    done: list[int] = []
    membership.close()
    monkeypatch.setattr(client, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(HTTPConnection, "getresponse", lose_one_in_two)
    while isinstance(job := coordinator.next_job(), Job):
        monkeypatch.setattr(HTTPConnection, "getresponse", answered)
        coordinator.submit(JobResult(job, job.batches, Tally(2, 1.0)))
        done += job.batches
        monkeypatch.setattr(HTTPConnection, "getresponse", lose_one_in_two)
    assert done == list(range(6))
    assert len(lost) == 7
    monkeypatch.undo()
    membership.leave()


LONG = "ten minutes of speech " * 500
TWO_FILES = Tally.of_utterance("a.wav", "yes", "no", 1.0, file=0).merged(
    Tally.of_utterance("b.wav", "no", "no", 2.0, file=1), 10
)


@pytest.mark.parametrize(
    "tally",
    [
        pytest.param(Tally(2, 1.0, labels_emitted=(0, 26)), id="labels"),
        pytest.param(TWO_FILES, id="files"),
        pytest.param(Tally.of_utterance("a.wav", LONG, LONG.replace("e", "é"), 1.0), id="long transcripts"),
    ],
)
def test_what_a_worker_counts_in_a_job_reaches_the_chief(served: Served, tally: Tally) -> None:
    connection = served.connection()
    membership = join(connection, Applicant(Role.WORKER, 0, "p", {"n_hidden": "48"}))
    coordinator = RemoteCoordinator(connection, membership)
    job = coordinator.next_job()
    assert isinstance(job, Job)
    coordinator.submit(JobResult(job, job.batches, tally))
    assert Tally.from_json(json.loads(served.state())["open_epoch"]["tally"]) == tally
    membership.leave()


def test_a_failure_that_names_many_utterances_ends_training_for_all(served: Served) -> None:
    connection = served.connection()
    failed = join(connection, Applicant(Role.WORKER, 0, "p", {"n_hidden": "48"}))
    other = join(connection, Applicant(Role.WORKER, 1, "q", {"n_hidden": "48"}))
    failed.leave(f"the loss is not finite in a batch with {', '.join(['/a/long/path/to/a/recording.wav'] * 200)}")
    with pytest.raises(TrainingFailedError, match="the loss is not finite"):
        RemoteCoordinator(connection, other).next_job()
    other.close()


def test_recordings_whose_names_are_not_utf_8_are_named_as_logs_name_them(served: Served) -> None:
    connection, name = served.connection(), os.fsdecode(b"caf\xe9.wav")
    failed = join(connection, Applicant(Role.WORKER, 0, "p", {"n_hidden": "48"}))
    other = join(connection, Applicant(Role.WORKER, 1, "q", {"n_hidden": "48"}))
    coordinator = RemoteCoordinator(connection, failed)
    job = coordinator.next_job()
    assert isinstance(job, Job)
    coordinator.submit(JobResult(job, job.batches, Tally.of_utterance(name, "a\\é", "b", 1.0)))
    (sample,) = json.loads(served.state())["open_epoch"]["tally"]["samples"]
    assert (sample["wav"], sample["transcript"]) == (r"caf\udce9.wav", "a\\é")
    failed.leave(f"the loss is not finite in a batch with {name}")
    with pytest.raises(TrainingFailedError, match=r"a batch with caf\\udce9.wav"):
        RemoteCoordinator(connection, other).next_job()
    other.close()


def test_a_failure_of_the_chief_that_names_a_recording_that_is_not_utf_8_is_told(served: Served) -> None:
    with served.service.locked() as coordinator:
        coordinator.fail(os.fsdecode(b"caf\xe9.wav: cannot be read"))
    with pytest.raises(TrainingFailedError, match=r"^caf\\udce9.wav: cannot be read$"):
        join(served.connection(), Applicant(Role.WORKER, 0, "p", {"n_hidden": "48"}))


def test_a_worker_that_does_not_fit_is_told_why(served: Served) -> None:
    with pytest.raises(JoinRefusedError, match="its n_hidden is 64, the chief's 48"):
        join(served.connection(), Applicant(Role.WORKER, 0, "p", {"n_hidden": "64"}))


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
def test_a_coordinator_that_is_not_there_is_an_error_after_so_many_tries(host: str, shown: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(ClusterError, match=re.escape(f"http://{shown}:{port} could not be reached")):
        join(Connection(Address(host, port, retries=2)), Applicant(Role.WORKER, 0, "p"))


@contextmanager
def gateway(*answers: tuple[int, bytes]) -> Iterator[int]:
    """Yield the port of a server that gives these answers one after another, and repeats the last."""
    left = list(answers)

    class Gateway(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, text = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Gateway) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            serving.join()


@pytest.mark.parametrize("status", [200, 404, 501])
def test_another_server_at_the_coordinators_address_is_an_error_that_says_so(status: int) -> None:
    said = rf"http://127.0.0.1:\d+ is not the coordinator: .* status {status}"
    with gateway((status, b"<html>")) as port, pytest.raises(ClusterError, match=said):
        join(Connection(Address("127.0.0.1", port, retries=2)), Applicant(Role.WORKER, 0, "p"))


def test_answers_of_a_gateway_before_the_coordinator_and_to_a_request_that_stalled_are_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "RETRY_SECONDS", 0.02)
    strange = [
        *((404, b"<html>"), (502, b"Bad Gateway"), (503, b'{"message": "unavailable"}'), (200, b"<html>"), (200, b"")),
        (200, b"[" * 100_000),
        *((400, b"null"), (504, b'{"kind": 7, "error": []}'), (408, b'{"kind": "too_slow", "error": "stalled"}')),
    ]
    with gateway(*strange, (200, b'{"member": "m", "lease_seconds": 1000, "seconds_between_signs": 1}')) as port:
        membership = join(Connection(Address("127.0.0.1", port, retries=1000)), Applicant(Role.WORKER, 0, "p"))
        membership.close()
    assert membership.identity == "m"


def test_a_coordinator_is_not_waited_for_while_all_nodes_are_suspended(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    request, clock = Connection._request, time.monotonic

    def second_while_suspended(self: Connection, path: str, body: Any, timeout: float) -> tuple[int, Any]:
        asked.append(clock())
        if len(asked) == 2:
            monkeypatch.setattr(time, "monotonic", lambda: clock() + 3600.0)
        if len(asked) < 3:
            raise ConnectionRefusedError
        return request(self, path, body, timeout)

    monkeypatch.setattr(Connection, "_request", second_while_suspended)
    with gateway((200, b'{"member": "m", "lease_seconds": 1000, "seconds_between_signs": 1}')) as port:
        join(Connection(Address("127.0.0.1", port)), Applicant(Role.WORKER, 0, "p")).close()
    assert len(asked) == 3


def test_a_request_that_took_longer_than_all_tries_is_tried_again_as_this_process_may_have_been_suspended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[float] = []
    request, clock = Connection._request, time.monotonic

    def first_while_suspended(self: Connection, path: str, body: Any, timeout: float) -> tuple[int, Any]:
        asked.append(clock())
        if len(asked) == 1:
            monkeypatch.setattr(time, "monotonic", lambda: clock() + 3600.0)
            raise TimeoutError("timed out")
        return request(self, path, body, timeout)

    monkeypatch.setattr(Connection, "_request", first_while_suspended)
    with gateway((200, b'{"member": "m", "lease_seconds": 1000, "seconds_between_signs": 1}')) as port:
        join(Connection(Address("127.0.0.1", port)), Applicant(Role.WORKER, 0, "p")).close()
    assert len(asked) == 2


def test_a_coordinators_refusal_is_not_tried_again() -> None:
    told = b'{"kind": "token", "error": "the token is wrong"}'
    accepted = (200, b'{"member": "m", "lease_seconds": 1000, "seconds_between_signs": 1}')
    with gateway((401, told), accepted) as port, pytest.raises(ClusterError, match="the token is wrong"):
        join(Connection(Address("127.0.0.1", port)), Applicant(Role.WORKER, 0, "p"))
