"""A coordinator of a small test, served over HTTP on this machine."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import Mock

from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.membership import ClusterSettings, Role
from deepspeech.cluster.http import server as server_module
from deepspeech.cluster.http.client import Address, Connection
from deepspeech.cluster.http.server import Server
from deepspeech.cluster.http.service import Service
from deepspeech.options import ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import SetName
from deepspeech.schedule.state import Plan

LEASE = 5.0
PATIENCE = 60.0
"""Seconds within which anything happens, on a busy machine."""

TOKEN = "a secret of enough characters"

# Each server would collect garbage when it starts, as a chief does once: what tests import makes that slow.
vars(server_module)["gc"] = Mock()


def make_service(batches: int = 6) -> Service:
    coordinator = ClusterCoordinator(ClusterSettings(4, 1, 4, 4, LEASE), {Role.WORKER: {"n_hidden": "48"}})
    coordinator.open(
        TrainingCoordinator(ScheduleOptions(epoch=0), {SetName.TEST: Plan(batches, 2, "test")}), time.monotonic()
    )
    coordinator.allow_testing()
    return Service(coordinator)


@dataclass
class Served:
    service: Service
    port: int

    def request(
        self,
        path: str,
        body: bytes | None = None,
        token: str | None = TOKEN,
        method: str | None = None,
        *,
        content_type: str = "application/json",
        headers: Iterable[tuple[str, str]] = (),
    ) -> tuple[int, Any]:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", body, method=method)
        if body is not None:
            request.add_header("Content-Type", content_type)
        for name, value in headers:
            request.add_header(name, value)
        if token is not None:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        return status, json.loads(text) if text.startswith(b"{") else text.decode()

    def post(self, path: str, **body: object) -> tuple[int, Any]:
        return self.request(path, json.dumps(body).encode())

    def connection(self) -> Connection:
        return Connection(Address("127.0.0.1", self.port, TOKEN, retries=4))

    def joined(self, task: int = 0) -> str:
        _, answer = self.post("/v1/join", role="worker", task=task, process="p", properties={"n_hidden": "48"})
        return str(answer["member"])

    def state(self) -> str:
        with self.service.locked() as coordinator:
            assert coordinator.training is not None
            return json.dumps(coordinator.training.state.to_json())


def result_of(job: dict[str, Any], member: str, **changes: object) -> dict[str, Any]:
    tally = {"utterances": 2 * len(job["batches"]), "loss_sum": 1.0}
    return {"member": member, "job": job["number"], "batches": job["batches"], "tally": tally} | changes


@contextmanager
def serving() -> Iterator[Served]:
    service = make_service()
    with Server(service, "127.0.0.1", 0, TOKEN) as server:
        yield Served(service, server.port)
