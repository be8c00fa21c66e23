"""The OpenAPI description of the server's requests and answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import __version__
from .openai.form import FORMATS, GRANULARITIES
from .options import ServerOptions
from .utterances import HIGHEST_RATE, LOWEST_RATE

JSON = "application/json"
TEXT = "text/plain"

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
INTEGER: Schema = {"type": "integer"}

OF_ANY_REQUEST = {
    "400": "The request is malformed",
    "401": "The token is missing or wrong",
    "403": "The Host or the Origin is not one of the server's",
}

OF_A_RECORDING = {
    "404": "There is no such model",
    "408": "The request came too slowly",
    "413": "The body is too large, or the recording too long",
    "503": "The server is busy; see Retry-After",
    "507": "The server cannot store the recording",
}


def describe(options: ServerOptions) -> dict[str, Any]:
    """Return the description, as a value for JSON."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "DeepSpeech server", "version": __version__},
        "security": [{"token": []}] if options.token is not None else [],
        "paths": {
            "/v1/audio/transcriptions": {"post": _transcription()},
            "/stt": {"post": _text_of_body()},
            "/v1/models": {"get": _view("The models", {JSON: _reference("Models")})},
            "/v1/models/{name}": {"get": _model()},
            "/v1/stream": {"get": _stream()},
            "/healthz": {"get": _view("Whether the server runs", {TEXT: {}}, is_open=True)},
            "/readyz": {"get": _view("Whether the server takes requests", {TEXT: {}}, is_open=True, refusals=["503"])},
            "/metrics": {"get": _view("Metrics in Prometheus' format", {TEXT: {}})},
            "/openapi.json": {"get": _view("This description", {JSON: {}}, is_open=True)},
        },
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _transcription() -> dict[str, Any]:
    kinds = {JSON: {"anyOf": [_reference("Transcription"), _reference("VerboseTranscription")]}}
    kinds |= {"text/plain": STRING, "text/vtt": STRING, "text/event-stream": STRING}
    refusals = {**OF_A_RECORDING, "415": "The body is not a form, or is compressed"}
    return {
        "summary": "Transcribe a recording, as OpenAI's interface does",
        "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _reference("Request")}}},
        "responses": {"200": _answer("The transcript", kinds), **_refusals({**OF_ANY_REQUEST, **refusals})},
    }


def _text_of_body() -> dict[str, Any]:
    refusals = {**OF_A_RECORDING, "415": "The body is a form, or is compressed"}
    return {
        "summary": "Transcribe the recording that is the body",
        "parameters": [_queried("model", STRING, "The name of a model; the first one by default")],
        "requestBody": {"required": True, "content": {"application/octet-stream": {}}},
        "responses": {"200": _answer("The text", {TEXT: STRING}), **_refusals({**OF_ANY_REQUEST, **refusals})},
    }


def _model() -> dict[str, Any]:
    described = _view("A model", {JSON: _reference("Model")}, refusals=["404"])
    named = {"name": "name", "in": "path", "required": True, "schema": STRING}
    return {**described, "parameters": [named]}


def _stream() -> dict[str, Any]:
    rate = {**INTEGER, "minimum": LOWEST_RATE, "maximum": HIGHEST_RATE}
    parameters = [
        _queried("rate", rate, "Sample rate of the audio, in Hz"),
        _queried("model", STRING, "The name of a model"),
    ]
    refusals = {
        "404": "There is no such model",
        "426": "The request is not for a WebSocket",
        "503": "The server is busy; see Retry-After",
    }
    return {
        "summary": "Open a WebSocket for live speech: send 16-bit samples in binary messages, receive JSON messages",
        "parameters": parameters,
        "responses": {
            "101": {"description": "The WebSocket is open"},
            **_refusals({**OF_ANY_REQUEST, **refusals}),
        },
    }


def _view(
    summary: str, kinds: dict[str, Schema], *, is_open: bool = False, refusals: Sequence[str] = ()
) -> dict[str, Any]:
    meanings = {**OF_ANY_REQUEST, "404": "There is no such model", "503": "The server is being stopped"}
    told = {status: meanings[status] for status in [*OF_ANY_REQUEST, *refusals]}
    answers: dict[str, Any] = {"200": _answer("Success", kinds), **_refusals(told)}
    if "503" in refusals:
        answers["503"] = _answer(meanings["503"], kinds)
    described = {"summary": summary, "responses": answers}
    return {**described, "security": []} if is_open else described


def _answer(meaning: str, kinds: dict[str, Schema]) -> dict[str, Any]:
    return {"description": meaning, "content": {kind: {"schema": schema} for kind, schema in kinds.items()}}


def _refusals(meanings: dict[str, str]) -> dict[str, Any]:
    return {status: _answer(meaning, {JSON: _reference("Error")}) for status, meaning in meanings.items()}


def _queried(name: str, schema: Schema, meaning: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, "description": meaning}


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _schemas() -> dict[str, Schema]:
    word = _object({"word": STRING, "start": NUMBER, "end": NUMBER})
    segment = _object({"id": INTEGER, "start": NUMBER, "end": NUMBER, "text": STRING})
    nothing = {"type": ["string", "null"]}
    error = _object({"message": STRING, "type": STRING, "param": nothing, "code": nothing})
    verbose = _object({"task": STRING, "language": STRING, "duration": NUMBER, "text": STRING})
    verbose["properties"] |= {"words": _list_of(word), "segments": _list_of(segment)}
    return {
        "Request": _request(),
        "Transcription": _object({"text": STRING, "usage": _object({"type": STRING, "seconds": INTEGER})}),
        "VerboseTranscription": verbose,
        "Model": _object({"id": STRING, "object": {"const": "model"}, "created": INTEGER, "owned_by": STRING}),
        "Models": _object({"object": {"const": "list"}, "data": _list_of(_reference("Model"))}),
        "Error": _object({"error": error}),
    }


def _request() -> Schema:
    fields = {
        "file": {"type": "string", "format": "binary", "description": "A recording of any format"},
        "model": {"type": "string", "minLength": 1},
        "response_format": {"enum": list(FORMATS), "default": "json"},
        "timestamp_granularities[]": {
            **_list_of({"enum": list(GRANULARITIES)}),
            "description": "What has times in verbose_json; other formats do not accept this field",
        },
        "stream": {"type": "boolean", "default": False, "description": "Whether json or text is sent as events"},
        "language": {**STRING, "description": "No effect; verbose_json reports it if the model has no language"},
        "keywords[]": {
            **_list_of(STRING),
            "description": "Words and phrases to make likelier; no effect without a language model",
        },
        "prompt": {**STRING, "description": "Accepted, without effect"},
        "temperature": {"type": "number", "minimum": 0, "maximum": 1, "description": "Accepted, without effect"},
    }
    return {"type": "object", "properties": fields, "required": ["file", "model"]}


def _object(fields: dict[str, Schema]) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields)}


def _list_of(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}
