"""Which requests the server accepts, and which it refuses."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving_in_thread import Served, loaded, serving, told
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

TOKEN = "a secret/of=enough characters"


@pytest.fixture(scope="module")
def served(graph_file: Path) -> Iterator[Served]:
    options: dict[str, Any] = {"allowed_hosts": ("speech.example",), "allowed_origins": ("https://app.example",)}
    with serving(loaded(graph_file), token=TOKEN, **options) as server:
        yield server


def status(served: Served, path: str = "/v1/models", token: str | None = TOKEN, **headers: str) -> int:
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return served.get(path, **headers)[0]


def stream_status(served: Served, query: str = "", **options: object) -> int:
    try:
        with served.stream(query, **options) as stream:
            assert told(stream)["type"] == "ready"
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def test_what_says_something_needs_the_token(served: Served) -> None:
    for path in ("/v1/models", "/metrics", "/v1/audio/transcriptions"):
        for token in (None, "", "a secret", f"{TOKEN}x", "ü" * 20):
            code, headers, text = served.get(path, **({"Authorization": f"Bearer {token}"} if token else {}))
            assert code == 401 and headers["www-authenticate"] == "Bearer"
            assert json.loads(text)["error"]["code"] == "invalid_api_key" and TOKEN not in text
    assert status(served) == 200
    for header, code in ((f"bearer {TOKEN}", 200), (TOKEN, 401), (f"Basic {TOKEN}", 401), (f"Bearer{TOKEN}", 401)):
        assert status(served, token=None, Authorization=header) == code
    for path in ("/healthz", "/readyz", "/openapi.json"):
        assert status(served, path, token=None) == 200


def test_a_stream_is_given_the_token_in_a_header_the_query_or_a_subprotocol(served: Served) -> None:
    encoded = base64.urlsafe_b64encode(TOKEN.encode()).decode().rstrip("=")
    wrong = base64.urlsafe_b64encode(b"wrong").decode().rstrip("=")
    assert stream_status(served) == 401
    assert stream_status(served, additional_headers={"Authorization": f"Bearer {TOKEN}"}) == 101
    assert stream_status(served, f"token={TOKEN.replace(' ', '+')}") == 101
    assert stream_status(served, "token=wrong") == 401
    assert stream_status(served, subprotocols=[Subprotocol("deepspeech"), Subprotocol(f"token.{encoded}")]) == 101
    assert stream_status(served, subprotocols=[Subprotocol("deepspeech"), Subprotocol(f"token.{wrong}")]) == 401
    assert stream_status(served, subprotocols=[Subprotocol("token.!")]) == 401
    for path in ("/v1/stream", "/"):
        offered = [Subprotocol("deepspeech"), Subprotocol(f"token.{encoded}")]
        with connect(f"ws://127.0.0.1:{served.port}{path}", subprotocols=offered) as stream:
            assert stream.subprotocol == "deepspeech"  # browsers leave if none of theirs is chosen


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("127.0.0.1", 200),
        ("localhost:8080", 200),
        ("[::1]:8080", 200),
        ("10.1.2.3", 200),
        ("LOCALHOST", 200),
        ("speech.example", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example:8080", 403),
        ("", 403),
    ],
)
def test_only_names_of_the_server_lead_to_it(served: Served, host: str, code: int) -> None:
    assert status(served, Host=host) == code
    assert status(served, "/healthz", token=None, Host=host) == code


def test_a_path_with_a_slash_too_many_is_unknown_and_leads_nowhere(served: Served) -> None:
    code, headers, text = served.get("/readyz/", Authorization=f"Bearer {TOKEN}")
    assert code == 404 and json.loads(text)["error"]["code"] == "unknown_url" and "location" not in headers


def test_pages_from_elsewhere_are_refused(served: Served) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    for origin, code in (
        (served.url, 200),
        ("https://app.example", 200),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://localhost:1", 403),
        (f"{served.url}.evil.example", 403),
        ("", 403),
    ):
        assert status(served, Origin=origin) == code
        upgraded = stream_status(served, additional_headers={**bearer, "Origin": origin})
        assert upgraded == (101 if code == 200 else code)


def test_pages_that_are_allowed_may_ask_first(served: Served) -> None:
    asked = {"Origin": "https://app.example", "Access_Control_Request_Method": "POST"}
    code, headers, _ = served.get("/v1/audio/transcriptions", "OPTIONS", **asked)
    assert code == 200
    assert headers["access-control-allow-origin"] == "https://app.example"
    wanted = "authorization,x-stainless-os"  # as OpenAI's client for JavaScript sends them
    code, headers, _ = served.get("/v1/models", "OPTIONS", Access_Control_Request_Headers=wanted, **asked)
    assert code == 200 and headers["access-control-allow-headers"] == wanted
    foreign = {**asked, "Origin": "https://evil.example"}
    code, headers, _ = served.get("/v1/models", "OPTIONS", Access_Control_Request_Headers=wanted, **foreign)
    assert code == 400 and "access-control-allow-origin" not in headers
    code, headers, _ = served.get("/v1/models", Origin="https://app.example", Authorization=f"Bearer {TOKEN}")
    assert headers["access-control-allow-origin"] == "https://app.example"
    assert headers["access-control-expose-headers"] == "Retry-After"
