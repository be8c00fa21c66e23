"""A node's side of the coordinator's protocol, with the standard library only and one connection for each thread."""

import http.client
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...errors import ClusterError
from ...schedule.coordinator import NoJob
from ...schedule.jobs import EpochReport, Job, JobResult, SetName
from ...util.monitoring.time_use import Activity, TimeUse
from ...util.monitoring.waiting import Waiting
from ..coordination.errors import CoordinatorError, error_of_kind
from ..coordination.membership import Applicant
from . import routes

logger = logging.getLogger(__name__)
traffic = logging.getLogger("deepspeech.traffic")

RETRY_SECONDS = 0.5
"""Seconds between two tries to reach the coordinator."""

REQUEST_SECONDS = 5.0
"""Seconds that an answer may take, beyond the time for which the coordinator may delay it."""

POLL_SECONDS = 5.0
"""Seconds for which the coordinator may delay an answer while there is nothing to do."""

LEAVE_SECONDS = 2.0
"""Seconds for which a node tries to announce that it leaves: the coordinator may be gone already."""


@dataclass(frozen=True)
class Address:
    """The coordinator's address and secret, and how many times to try to reach it, every RETRY_SECONDS."""

    host: str
    port: int
    token: str | None = None
    retries: int = 100

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


class Connection:
    """Requests to a coordinator, from any thread."""

    def __init__(self, address: Address) -> None:
        """Remember the address; a thread connects with its first request. `given_up` returns True to end all tries."""
        self._address = address
        self._local = threading.local()
        self.given_up: Callable[[], bool] = lambda: False

    def post(
        self, route: routes.Route, body: Mapping[str, Any], wait: float = 0.0, patience: float | None = None
    ) -> tuple[int, Any]:
        """Send a request and return the answer's status and JSON.

        Tries again if the coordinator cannot be reached, a gateway answers in its place, or the request stalls on its
        way: for `patience` seconds from the first failure, by default for the address's retries. Raises a
        CoordinatorError if the coordinator refuses, and ClusterError if it stays unreachable or does not understand.
        """
        seconds = left = self._address.retries * RETRY_SECONDS if patience is None else patience
        waiting: Waiting | None = None  # not from the request on: this process may have been suspended since
        while True:
            try:
                status, answer = self._request(route.path, body, wait + min(REQUEST_SECONDS, max(left, RETRY_SECONDS)))
            except (OSError, http.client.HTTPException, _NotTheCoordinatorError) as error:
                self._close()
                waiting = waiting or Waiting()
                left = seconds - waiting.seconds()
                if left <= 0 or self.given_up():
                    raise self._unreachable(error, seconds) from error
                logger.debug("%s%s: %r", self._address, route.path, error)
                time.sleep(RETRY_SECONDS)
                continue
            if status < 300:
                return status, answer
            raise self._refusal(answer)

    def _request(self, path: str, body: Mapping[str, Any], timeout: float) -> tuple[int, Any]:
        connection = self._connection(timeout)
        headers = {"Content-Type": routes.JSON}
        if self._address.token is not None:
            headers["Authorization"] = f"Bearer {self._address.token}"
        text = routes.in_json(body)
        connection.request("POST", path, text.encode(), headers)
        response = connection.getresponse()
        received = response.read()
        if traffic.isEnabledFor(logging.INFO):
            traffic.info("%s %s -> %d %s", path, text, response.status, routes.for_logs(received))
        return response.status, _answer_of(response.status, received)

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = http.client.HTTPConnection(self._address.host, self._address.port)
            self._local.connection = connection
        connection.timeout = timeout
        if connection.sock is not None:
            connection.sock.settimeout(timeout)
        return connection

    def _close(self) -> None:
        if (connection := getattr(self._local, "connection", None)) is not None:
            connection.close()

    def _unreachable(self, error: Exception, seconds: float) -> ClusterError:
        if isinstance(error, _NotTheCoordinatorError):
            return ClusterError(
                f"the server at {self._address} is not the coordinator: for {seconds:.0f} s it has answered with"
                f" {error}; are --coord_host and --coord_port those of the first worker?"
            )
        return ClusterError(
            f"the coordinator at {self._address} could not be reached for {seconds:.0f} s ({error!r}); "
            "is the first worker running, and are --coord_host and --coord_port correct?"
        )

    def _refusal(self, answer: Mapping[str, str]) -> Exception:
        kind, message = answer["kind"], answer["error"]
        advice = "; give every node the same version of this program" if kind == routes.INVALID_BODY.kind else ""
        return error_of_kind(kind, message) or ClusterError(f"the coordinator at {self._address}: {message}{advice}")


class _NotTheCoordinatorError(Exception):
    """The answer does not come from the coordinator, or says that the request did not arrive completely."""


def _answer_of(status: int, received: bytes) -> Any:
    """Return the JSON of an answer, None if it has none; raises _NotTheCoordinatorError."""
    if status in (routes.ASK_AGAIN, routes.TRAINING_OVER) and not received:
        return None
    with suppress(ValueError, RecursionError):
        answer = json.loads(received)
        refusal = isinstance(answer, dict) and all(isinstance(answer.get(key), str) for key in ("kind", "error"))
        if isinstance(answer, dict) and (refusal or status == 200) and status not in routes.TRY_AGAIN:
            return answer
    raise _NotTheCoordinatorError(f"status {status} and no JSON of the coordinator's")


class Membership:
    """A process's membership: a thread gives signs of life until it is closed.

    Set `must_go` in a parameter server that was told to stop; it may end once `over` is True. `heard` is the time of
    the last answer, from `time.monotonic`, and `order` the number of the newest order to workers that hold the weights.
    `error` is the error that ended the membership, or None.
    """

    def __init__(
        self,
        connection: Connection,
        applicant: Applicant,
        identity: str,
        seconds: float,
        report: Callable[[], Mapping[str, Any] | None] = lambda: None,
    ) -> None:
        """Give signs of life, `seconds` apart. `report` returns a `TimesBody` to send along, or None if none is due."""
        self._report = report
        self._connection = connection
        self.identity = identity
        """The coordinator's name for the member."""
        self._seconds = seconds
        self._ended = threading.Event()
        self.over = False
        self.must_go = False
        self.heard = time.monotonic()
        self.order = 0
        self.error: Exception | None = None
        self._on_error: Callable[[Exception], None] = lambda _: None
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat of {applicant.name}", daemon=True)
        self._thread.start()

    def on_error(self, act: Callable[[Exception], None]) -> None:
        """Call `act` from the heartbeat thread if the membership turns out to have ended."""
        self._on_error = act

    def leave(self, failure: str | None = None) -> None:
        """Tell the coordinator, if it still runs, that the process leaves; a failure ends training for all nodes."""
        self.close()
        patience = LEAVE_SECONDS if failure is None else None
        with suppress(ClusterError, CoordinatorError):
            self._connection.post(routes.LEAVE, {"member": self.identity, "failure": failure}, patience=patience)

    def close(self) -> None:
        """Give no further signs of life."""
        self._ended.set()

    def _beat(self) -> None:
        while not self._ended.wait(self._seconds):
            try:
                body = {"member": self.identity, "must_go": self.must_go, "times": self._report()}
                _, answer = self._connection.post(routes.HEARTBEAT, body)
                self.heard = time.monotonic()
                self.over, self.order = answer["over"], answer["order"]
            except (ClusterError, CoordinatorError) as error:
                if not self._ended.is_set():
                    self.error = error
                    self._on_error(error)
                return


def join(
    connection: Connection, applicant: Applicant, report: Callable[[], Mapping[str, Any] | None] = lambda: None
) -> Membership:
    """Join; `report` returns the time use to send. Raises JoinRefusedError, and ClusterError if unreachable."""
    body = {
        "role": applicant.role.value,
        "task": applicant.task,
        "process": applicant.process,
        "properties": dict(applicant.properties),
        "address": applicant.address,
    }
    _, answer = connection.post(routes.JOIN, body)
    return Membership(connection, applicant, answer["member"], answer["seconds_between_signs"], report)


class RemoteCoordinator:
    """The coordinator as a `deepspeech.training.job_runner.JobRunner` uses it, over HTTP."""

    stepwise = True

    def __init__(self, connection: Connection, membership: Membership, time_use: TimeUse | None = None) -> None:
        self._connection = connection
        self._membership = membership
        self._time_use = time_use or TimeUse()
        self._held: set[int] = set()
        self._round: int | None = None
        self.trace: str | None = None
        """The W3C `traceparent` of the last step that was begun, if it is traced."""
        self.await_weights: Callable[[int], None] = lambda _: None
        """Waits for the weights of a number if this process holds the weights."""

    def next_job(self, wait: float = 0.0) -> Job | NoJob:
        """Return a job, or the reason why there is none, after at most `wait` seconds."""
        status, answer = self._post(routes.NEXT_JOB, {"wait": wait, "jobs": sorted(self._held)}, wait)
        if status == routes.ASK_AGAIN:
            return NoJob.WAIT
        if status == routes.TRAINING_OVER:
            return NoJob.OVER
        job = Job(answer["number"], answer["epoch"], SetName(answer["set"]), tuple(answer["batches"]), answer["report"])
        self._held.add(job.number)
        self.await_weights(answer["weights"])
        return job

    def begin_step(self, job: Job) -> int:
        """Wait until a training step of the job may begin, and return its round's number."""
        while True:
            status, answer = self._post(routes.BEGIN_STEP, {"job": job.number, "wait": POLL_SECONDS}, POLL_SECONDS)
            if status == 200:
                self._round, self.trace = int(answer["round"]), answer["trace"]
                self.await_weights(answer["weights"])
                return self._round

    def offer_gradient(self, job: Job) -> int:
        """Return the round to which the job's gradient may be sent; raises JobLostError if it takes no more."""
        assert self._round is not None
        self._post(routes.OFFER_GRADIENT, {"job": job.number, "round": self._round})
        return self._round

    def submit(self, result: JobResult) -> EpochReport | None:
        """Submit a result. Returns None, because the coordinator gives the epochs' reports to the chief."""
        number = self._round if result.job.set_name is SetName.TRAIN else None
        if not result.batches:
            self.give_back(result.job)
            return None
        body = {
            "job": result.job.number,
            "batches": result.batches,
            "tally": result.tally.to_json(),
            "last": result.last,
            "round": number,
        }
        self._post(routes.SUBMIT, body)
        if result.last:
            self._held.discard(result.job.number)
        return None

    def give_back(self, job: Job) -> None:
        """Return a job that won't be done."""
        self._return([job.number])

    def give_back_all(self) -> None:
        """Return all jobs."""
        self._return(list(self._held))

    def _return(self, numbers: list[int]) -> None:
        if numbers:
            self._post(routes.RETURN_JOBS, {"jobs": numbers})
        self._held.difference_update(numbers)

    def _post(self, route: routes.Route, body: Mapping[str, Any], wait: float = 0.0) -> tuple[int, Any]:
        with self._time_use.during(Activity.WAITING):
            return self._connection.post(route, {"member": self._membership.identity, **body}, wait)
