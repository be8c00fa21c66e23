"""A coordinator without a token, and pages of other origins in a browser on its machine."""

import http.client
from collections.abc import Iterator

import pytest
from served import Served, make_service, serving

from benchmarks.processes.ports import free_ports
from deepspeech.cluster.http.server import Server
from deepspeech.cluster.status_page import status_page

JOIN = b'{"role": "worker", "task": 0, "process": "evil", "properties": {"n_hidden": "48"}}'


@pytest.fixture(scope="module")
def tokenless() -> Iterator[Served]:
    service = make_service()
    with Server(service, "127.0.0.1", 0, None) as server:
        yield Served(service, server.port)


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "", "text/plain;a=application/json"]
)
def test_a_message_that_a_page_may_send_without_asking_is_refused(tokenless: Served, content_type: str) -> None:
    status, answer = tokenless.request("/v1/join", JOIN, None, content_type=content_type)
    assert (status, answer["kind"]) == (415, "not_json")


@pytest.mark.parametrize(
    "header",
    [
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Origin", "http://localhost:1"),
        ("Origin", "http://["),
        ("Host", "evil.example"),
        ("Host", "localhost.evil.example"),
        ("Host", "["),
        ("Host", ""),
        ("Host", "10.0.0.1"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/join", "/v1/status", "/metrics"])
def test_a_page_of_another_origin_gets_no_answer(tokenless: Served, header: tuple[str, str], path: str) -> None:
    body = JOIN if path == "/v1/join" else None
    status, answer = tokenless.request(path, body, None, headers=[header])
    assert (status, answer["kind"]) == (403, "origin")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "LOCALHOST:99", "[::1]:99", "127.3.2.1:5"])
def test_programs_of_this_machine_and_the_coordinators_own_page_are_answered(tokenless: Served, host: str) -> None:
    assert tokenless.request("/v1/status", None, None, headers=[("Host", host)])[0] == 200
    same = [("Host", host), ("Origin", f"http://{host}")]
    status, _ = tokenless.request("/v1/jobs", b'{"member": "nobody"}', None, headers=same)
    assert status == 410


def test_with_a_token_nodes_may_call_the_chief_what_they_like() -> None:
    with serving() as served:
        assert served.request("/v1/status", headers=[("Host", "chief.example:2500")])[0] == 200


def test_no_page_is_shown_inside_another_and_none_redirects_to_the_host_that_was_asked_for(
    tokenless: Served,
) -> None:
    (port,) = free_ports(1)
    with status_page(port):
        for number in (tokenless.port, port):
            connection = http.client.HTTPConnection("127.0.0.1", number, timeout=60)
            connection.request("GET", "/")
            page = connection.getresponse()
            page.read()
            assert page.headers["content-security-policy"] == "frame-ancestors 'none'"
            for path in ("/v1/status/", "/metrics/"):
                connection.request("GET", path, headers={"Host": "evil.example"})
                answer = connection.getresponse()
                answer.read()
                assert answer.status == 404
            connection.request("GET", "/v1/status", headers={"Host": "evil.example"})
            assert connection.getresponse().status == 403
