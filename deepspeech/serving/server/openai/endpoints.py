"""The routes of OpenAI's interface: `/v1/models` and `/v1/audio/transcriptions`."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..models import LoadedModel
from ..service import Service
from .transcriptions import TranscriptionEndpoint


def openai_routes(service: Service) -> list[Route]:
    """Return the routes."""

    async def models(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [_described(each) for each in service.models.all]})

    async def model(request: Request) -> Response:
        return JSONResponse(_described(service.models.named(request.path_params["name"])))

    return [
        Route("/v1/models", models, methods=["GET"]),
        Route("/v1/models/{name:path}", model, methods=["GET"]),
        Route("/v1/audio/transcriptions", TranscriptionEndpoint(service), methods=["POST"]),
    ]


def _described(loaded: LoadedModel) -> dict[str, Any]:
    """Return a model's description: OpenAI's fields, its rate in Hz, its language, and whether it streams."""
    openai = {"id": loaded.name, "object": "model", "created": loaded.loaded_at, "owned_by": "deepspeech"}
    model = loaded.model
    return {**openai, "rate": model.sampleRate(), "streams": loaded.streams, "language": model.language}
