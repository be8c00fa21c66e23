"""Places and addresses of workers over HTTP, and a worker that leaves in the middle of a step."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from served import PATIENCE, TOKEN, Served, make_service, serving

from deepspeech.cluster.addresses import announcing
from deepspeech.cluster.addresses.announcing import own_address, place_kept, port_to_listen_on, take_place
from deepspeech.cluster.addresses.forwarder import locate_with
from deepspeech.cluster.coordination.errors import JoinRefusedError, NotMemberError
from deepspeech.cluster.coordination.membership import Applicant, Role
from deepspeech.cluster.coordination.places import RESERVED_SECONDS, FreePlaces
from deepspeech.cluster.departure import Departure
from deepspeech.cluster.http import routes
from deepspeech.cluster.http.client import RemoteCoordinator, join
from deepspeech.cluster.http.protocol import LONGEST_POLL
from deepspeech.cluster.http.server import Server
from deepspeech.cluster.http.service import Service
from deepspeech.cluster.monitoring.node_record import NodeRecord
from deepspeech.errors import ClusterError
from deepspeech.options import ClusterOptions
from deepspeech.schedule.jobs import Job


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving() as each:
        yield each


def applicant(task: int, process: str, address: str = "") -> Applicant:
    return Applicant(Role.WORKER, task, process, {"n_hidden": "48"}, address)


def test_a_worker_is_found_where_it_joined_last(served: Served) -> None:
    connection = served.connection()
    locate = locate_with(connection)
    assert locate(2) is None
    before = join(connection, applicant(2, "p", "10.0.0.7:2222"))
    assert locate(2) == "10.0.0.7:2222"
    after = join(connection, applicant(2, "q", "worker-2.nodes:2300"))
    assert locate(2) == "worker-2.nodes:2300"
    after.leave()
    assert locate(2) is None
    before.close()
    for address in ("worker 2:2222", "worker", "http://worker:2222", "a@b:1", "worker:222222"):
        body = {"role": "worker", "task": 1, "process": "p", "properties": {"n_hidden": "48"}, "address": address}
        assert served.post("/v1/join", **body)[0] == routes.INVALID_BODY.status


def test_workers_get_different_places_and_wait_when_all_are_taken(served: Served) -> None:
    connection = served.connection()
    assert [take_place(connection, process, 0) for process in ("p", "q", "p", "r")] == [1, 2, 1, 3]
    with pytest.raises(
        ClusterError, match="all places of workers were taken for 0 s; give every node a greater number"
    ):
        take_place(connection, "s", 0)
    member = join(connection, applicant(2, "q"))
    member.leave()
    assert take_place(connection, "s", 0) == 2


def test_a_place_is_free_again_when_its_worker_is_gone_or_never_came() -> None:
    places = FreePlaces(4)
    assert [places.take(process, (), 0.0) for process in "abc"] == [1, 2, 3]
    assert places.take("d", (), 1.0) is None
    places.end_reservation("b")
    assert places.take("d", {0, 2}, 2.0) is None
    assert places.take("d", {0}, 3.0) == 2
    assert places.take("e", {0, 1}, RESERVED_SECONDS) == 3


def test_a_worker_keeps_its_place_while_it_builds_its_graph_and_one_that_dies_or_is_refused_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(announcing, "RESERVED_SECONDS", 0.06)
    now, service = [0.0], make_service()
    monkeypatch.setattr(service, "clock", lambda: now[0])
    with Server(service, "127.0.0.1", 0, TOKEN) as server:
        connection = Served(service, server.port).connection()
        assert [take_place(connection, process, 0) for process in ("slow", "dead", "misfit")] == [1, 2, 3]
        with pytest.raises(JoinRefusedError):
            join(connection, Applicant(Role.WORKER, 3, "misfit", {"n_hidden": "64"}))
        assert take_place(connection, "next", 0) == 3
        with place_kept(connection, "slow"):
            for _ in range(3):
                now[0] += RESERVED_SECONDS / 2
                deadline = time.monotonic() + PATIENCE
                while service.clock() > reserved_at(service, "slow"):
                    assert time.monotonic() < deadline
                    time.sleep(0.01)
        assert take_place(connection, "slow", 0) == 1
        assert [take_place(connection, process, 0) for process in ("other", "another")] == [2, 3]


def test_a_worker_of_any_place_whose_place_was_given_to_another_takes_another_place() -> None:
    program = """
import secrets, sys, threading
from deepspeech.cluster.addresses.announcing import ConnectionOfAnyPlace, take_place
from deepspeech.cluster.coordination.membership import Applicant, Role
from deepspeech.cluster.http.client import Address, join

process = secrets.token_hex(8)
connection = ConnectionOfAnyPlace(Address("127.0.0.1", int(sys.argv[1]), sys.argv[2]))
task = take_place(connection, process, 0)
membership = join(connection, Applicant(Role.WORKER, task, process, {"n_hidden": "48"}))
print(task, flush=True)
threading.Event().wait()
"""
    with serving() as served:
        command = [sys.executable, "-c", program, str(served.port), TOKEN]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as moving:
            try:
                assert moving.stdout is not None
                assert moving.stdout.readline() == "1\n"
                newcomer = join(served.connection(), applicant(1, "newcomer"))
                assert moving.stdout.readline() == "2\n"
                newcomer.leave()
            finally:
                moving.kill()


def reserved_at(service: Service, process: str) -> float:
    with service.locked() as coordinator:
        reserved: dict[int, tuple[str, float]] = vars(coordinator.members)["_free_places"]._reserved
        return max(at for holder, at in reserved.values() if holder == process)


def test_the_job_of_a_worker_whose_step_lasts_goes_to_another_as_soon_as_it_is_told_to_stop(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[object] = []
    monkeypatch.setattr("deepspeech.cluster.departure.end_hard_later", lambda *arguments: ended.append(arguments))
    connection = served.connection()
    leaving, staying = join(connection, applicant(0, "p")), join(connection, applicant(1, "p"))
    job = RemoteCoordinator(connection, leaving).next_job()
    assert isinstance(job, Job)
    departure = Departure(NodeRecord())
    departure.joined(leaving)
    other = RemoteCoordinator(connection, staying)
    held = other.next_job()
    assert isinstance(held, Job)
    departure.begin(15)
    given = other.next_job(wait=LONGEST_POLL)
    while isinstance(given, Job) and given.batches != job.batches:
        given = other.next_job(wait=LONGEST_POLL)
    assert isinstance(given, Job)
    with pytest.raises(NotMemberError):
        RemoteCoordinator(connection, leaving).next_job()
    assert ended == [("interrupted; the other workers go on without this one", 5.0, 128 + 15)]
    staying.leave()


def test_a_workers_own_address_is_the_one_given_or_the_one_on_the_way_to_the_coordinator() -> None:
    options = ClusterOptions(workers=("auto",), worker_number="2", job_name="worker", task=1)
    assert own_address(options, 2222) in ("127.0.0.1:2222", "[::1]:2222")
    assert port_to_listen_on(options) == 0
    for given, port, address in (("node7", 0, "node7:4000"), ("node7:2300", 2300, "node7:2300")):
        named = ClusterOptions(workers=("auto",), worker_number="2", job_name="worker", worker_address=given)
        assert port_to_listen_on(named) == port
        assert own_address(named, port or 4000) == address
    chief = ClusterOptions(workers=("auto",), worker_number="2", job_name="worker", coordinator_host="node1")
    assert own_address(chief, 2222) == "node1:2222"


def test_a_coordinators_name_may_become_known_later_and_be_a_loopback_address_on_its_own_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, known = [], socket.getaddrinfo

    def resolve(host: Any, *arguments: Any, **keywords: Any) -> Any:
        if host != "node1":
            return known(host, *arguments, **keywords)
        asked.append(host)
        if len(asked) < 3:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return known("127.0.1.1", *arguments, **keywords)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    other = ClusterOptions(workers=("auto",), worker_number="2", job_name="worker", task=1, coordinator_host="node1")
    assert own_address(other, 2222) == "node1:2222"
    for token, addresses in ((TOKEN, ("::", "0.0.0.0")), (None, ("127.0.1.1",))):
        server = Server(make_service(), "node1", 0, token)
        assert server._socket.getsockname()[0] in addresses
        server._socket.close()
