"""The coordinator's messages, pages and refusals, each defined once.

The application, the OpenAPI description and the client use these definitions. Like the client, this module uses the
standard library only: bodies are the names of classes in `protocol`, which needs pydantic.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..coordination.errors import JobLostError, JoinRefusedError, NotMemberError, TracingOffError

JSON = "application/json"

ASK_AGAIN = 202
"""The status of an answer without content yet: the client asks again."""

TRAINING_OVER = 204
"""The status of the answer to a request for a job or a place when there will be no more jobs."""


_SURROGATE = re.compile("[\ud800-\udfff]")
_KEY = re.compile('("key": ?)"[^"]*"')


def in_json(body: Mapping[str, Any]) -> str:
    """Return a body in JSON. Bytes of a file name that are not UTF-8 are escaped as in logs: "caf\\udce9.wav"."""
    text = json.dumps(body, ensure_ascii=False)
    return _SURROGATE.sub(lambda found: rf"\\u{ord(found[0]):x}", text)


def for_logs(answer: bytes) -> str:
    """Return an answer as logs may show it: without the secret key of a ring of workers."""
    return _KEY.sub(r'\1"(hidden)"', answer.decode("utf-8", "replace"))


@dataclass(frozen=True, eq=False)
class Route:
    """A message: a POST of `body` to `path`, answered with 200 and `answer`, or with one of `other_statuses`.

    Of the other statuses, those below 300 come without a body, the rest with an `ErrorBody`.
    """

    path: str
    summary: str
    body: str
    answer: str
    other_statuses: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """The answer to a GET of `path`."""

    path: str
    summary: str
    content_type: str


@dataclass(frozen=True)
class Refusal:
    """Why a request is refused before it reaches the coordinator; `kind` is for programs."""

    status: int
    kind: str
    meaning: str


JOIN = Route("/v1/join", "Join the training", "JoinBody", "JoinedBody", {JoinRefusedError.status: "Does not fit"})
TAKE_PLACE = Route(
    "/v1/places",
    "Get a place to join at, for workers that come and go",
    "PlaceBody",
    "PlaceAnswer",
    {ASK_AGAIN: "All places are taken: ask again", TRAINING_OVER: "Training is over"},
)
FIND_WORKER = Route(
    "/v1/addresses",
    "Get the address that a worker has announced",
    "AddressBody",
    "AddressAnswer",
    {ASK_AGAIN: "It has not joined, or was lost: ask again"},
)
HEARTBEAT = Route("/v1/heartbeat", "Give a sign of life", "MemberBody", "AliveBody")
LEAVE = Route("/v1/leave", "Leave the training", "LeaveBody", "DoneBody")
NEXT_JOB = Route(
    "/v1/jobs",
    "Get a job, which is a lease",
    "JobBody",
    "JobAnswer",
    {ASK_AGAIN: "No job now: ask again", TRAINING_OVER: "Training is over"},
)
RETURN_JOBS = Route("/v1/jobs/return", "Give jobs back", "ReturnBody", "DoneBody")
BEGIN_STEP = Route(
    "/v1/steps",
    "Begin a training step",
    "StepBody",
    "StepAnswer",
    {ASK_AGAIN: "The step before isn't over: ask again", JobLostError.status: "The job is not the member's"},
)
OFFER_GRADIENT = Route(
    "/v1/steps/offer",
    "Offer a gradient for a step, where more are computed than a step uses",
    "OfferBody",
    "DoneBody",
    {JobLostError.status: "The job is not the member's, or the step has enough gradients"},
)
SUBMIT = Route(
    "/v1/results",
    "Submit the figures of a job's next batches",
    "ResultBody",
    "DoneBody",
    {JobLostError.status: "The job is not the member's, the step came too late, or the result does not fit"},
)
NEXT_ORDER = Route(
    "/v1/orders",
    "Get the next order to all workers, where they hold the weights",
    "OrderBody",
    "OrderAnswer",
    {ASK_AGAIN: "No order now: ask again"},
)
TRACE = Route(
    "/v1/trace",
    "Trace the next steps",
    "TraceBody",
    "DoneBody",
    {TracingOffError.status: "The chief has no --trace_endpoint"},
)

STATUS = View("/v1/status", "The status of training", JSON)
METRICS = View("/metrics", "The same in Prometheus format", "text/plain")

ALIVE = View("/healthz", "Whether the process is alive", "text/plain")
READY = View("/readyz", "Whether training runs; 503 if it waits for nodes, has failed or was stopped", "text/plain")
PROBES = (ALIVE, READY)
"""Views that need no secret."""

INCOMPLETE = Refusal(400, "incomplete", "Not a request")
WRONG_TOKEN = Refusal(401, "token", "Token missing or wrong")
WRONG_ORIGIN = Refusal(403, "origin", "From a page of another origin, or for another host")
TOO_SLOW = Refusal(408, "too_slow", "The request came too slowly")
BODY_TOO_LARGE = Refusal(413, "too_large", "The body is too large")
NOT_JSON = Refusal(415, "not_json", "The body's type is not JSON")
INVALID_BODY = Refusal(422, "invalid", "The body is not as described")
HEAD_TOO_LARGE = Refusal(431, "too_large", "The headers are too large")
TOO_MANY = Refusal(503, "too_many", "There are too many connections")

TRY_AGAIN = (INCOMPLETE.status, TOO_SLOW.status, TOO_MANY.status)
"""Statuses of requests that arrived incomplete or too slowly, or while there were too many connections."""

STATUSES_OF_ANY_MESSAGE: Mapping[int, str] = {
    NotMemberError.status: "Not a member (any more), or training has failed",
    **{
        refusal.status: refusal.meaning
        for refusal in (
            *(INCOMPLETE, WRONG_TOKEN, WRONG_ORIGIN, TOO_SLOW, BODY_TOO_LARGE, NOT_JSON, INVALID_BODY, HEAD_TOO_LARGE),
            TOO_MANY,
        )
    },
}
