from collections.abc import Iterator

import pytest
from served import TOKEN, Served, make_service

from deepspeech.cluster.http.server import Server


@pytest.fixture
def served() -> Iterator[Served]:
    service = make_service()
    with Server(service, "127.0.0.1", 0, TOKEN) as server:
        yield Served(service, server.port)
