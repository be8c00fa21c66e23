"""The OpenAPI description of the coordinator, made from the models that check its requests."""

from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from ... import __version__
from . import protocol
from .protocol import Body

JSON = "application/json"
POSTS: dict[str, tuple[str, type[Body], type[Body], dict[int, str]]] = {
    "/v1/join": (
        "Take part",
        protocol.JoinBody,
        protocol.JoinedBody,
        {403: "Does not fit in"},
    ),
    "/v1/heartbeat": ("Give a sign of life", protocol.MemberBody, protocol.AliveBody, {}),
    "/v1/leave": ("Go", protocol.LeaveBody, protocol.DoneBody, {}),
    "/v1/jobs": (
        "Get a job, which is a lease",
        protocol.JobBody,
        protocol.JobAnswer,
        {202: "No job now: ask again", 204: "Training is over"},
    ),
    "/v1/jobs/return": ("Give jobs back", protocol.ReturnBody, protocol.DoneBody, {}),
    "/v1/steps": (
        "Begin a training step",
        protocol.StepBody,
        protocol.StepAnswer,
        {202: "The step before isn't over: ask again", 409: "The job is not the member's"},
    ),
    "/v1/results": (
        "Hand in the next batches of a job",
        protocol.ResultBody,
        protocol.DoneBody,
        {409: "The job is not the member's, the step came too late, or the result does not fit"},
    ),
}
REFUSALS = {
    400: "Not a request",
    401: "Token missing or wrong",
    408: "The request came too slowly",
    410: "Not a member (any more), or training has failed",
    413: "The body is too large",
    431: "The headers are too large",
    422: "The body is not as described",
}


@cache
def describe() -> dict[str, Any]:
    """The description, as a value for JSON."""
    models: list[type[BaseModel]] = [protocol.ErrorBody]
    for _, given, answer, _ in POSTS.values():
        models += [model for model in (given, answer) if model not in models]
    _, schemas = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, Any] = {path: {"post": _post(*parts)} for path, parts in POSTS.items()}
    for path, summary, content in (
        ("/v1/status", "How training stands", JSON),
        ("/metrics", "The same in Prometheus format", "text/plain"),
    ):
        answers = {"200": {"description": "It", "content": {content: {}}}, "401": _refusal(REFUSALS[401])}
        paths[path] = {"get": {"summary": summary, "responses": answers}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "DeepSpeech training coordinator", "version": __version__},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _post(summary: str, given: type[Body], answer: type[Body], others: dict[int, str]) -> dict[str, Any]:
    answers: dict[str, Any] = {"200": {"description": "Done", "content": {JSON: {"schema": _reference(answer)}}}}
    for status, description in sorted({**REFUSALS, **others}.items()):
        answers[str(status)] = {"description": description} if status < 300 else _refusal(description)
    body = {"required": True, "content": {JSON: {"schema": _reference(given)}}}
    return {"summary": summary, "requestBody": body, "responses": answers}


def _refusal(description: str) -> dict[str, Any]:
    return {"description": description, "content": {JSON: {"schema": _reference(protocol.ErrorBody)}}}


def _reference(model: type[Body]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}
