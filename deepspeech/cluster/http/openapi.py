"""The OpenAPI description of the coordinator, made from its routes and the models that check its requests."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from ... import __version__
from . import routes
from .protocol import ErrorBody, body_named


def describe(messages: Iterable[routes.Route], views: Iterable[routes.View]) -> dict[str, Any]:
    """Return the description of messages and views, as a value for JSON."""
    messages = tuple(messages)
    models: list[type[BaseModel]] = [ErrorBody]
    for route in messages:
        models += [model for model in map(body_named, (route.body, route.answer)) if model not in models]
    _, schemas = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, Any] = {route.path: {"post": _message(route)} for route in messages}
    paths |= {view.path: {"get": _view(view)} for view in views}
    paths |= {probe.path: {"get": _probe(probe)} for probe in routes.PROBES}
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


def _message(route: routes.Route) -> dict[str, Any]:
    answers: dict[str, Any] = {"200": {"description": "Done", "content": _content(route.answer)}}
    for status, meaning in sorted({**routes.STATUSES_OF_ANY_MESSAGE, **route.other_statuses}.items()):
        answers[str(status)] = {"description": meaning} if status < 300 else _refusal(meaning)
    body = {"required": True, "content": _content(route.body)}
    return {"summary": route.summary, "requestBody": body, "responses": answers}


def _view(view: routes.View) -> dict[str, Any]:
    shown = {"description": "It", "content": {view.content_type: {}}}
    wrong = routes.WRONG_TOKEN
    return {"summary": view.summary, "responses": {"200": shown, str(wrong.status): _refusal(wrong.meaning)}}


def _probe(probe: routes.View) -> dict[str, Any]:
    answers = {"200": {"description": "Yes", "content": {probe.content_type: {}}}}
    if probe is routes.READY:
        answers["503"] = {"description": "No: the phase", "content": {probe.content_type: {}}}
    return {"summary": probe.summary, "responses": answers, "security": []}


def _refusal(meaning: str) -> dict[str, Any]:
    return {"description": meaning, "content": _content(ErrorBody.__name__)}


def _content(body: str) -> dict[str, Any]:
    return {routes.JSON: {"schema": {"$ref": f"#/components/schemas/{body}"}}}
