"""`POST /stt`, as clients of earlier servers of DeepSpeech send it: the body is a recording, the answer its text."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.routing import Route

from ..errors import RefusedError
from ..openai.form import HELD_IN_MEMORY, TranscriptionRequest, pieces_of
from ..openai.recordings import no_storage
from ..openai.transcriptions import TranscriptionEndpoint
from ..options import Limits
from ..service import Service

PATH = "/stt"


def stt_route(service: Service) -> Route:
    """Return the route."""
    return Route(PATH, TranscriptionEndpoint(service, _recording_of), methods=["POST"])


@asynccontextmanager
async def _recording_of(
    request: Request, limits: Limits, count_bytes: Callable[[int], None]
) -> AsyncIterator[TranscriptionRequest]:
    """Yield a request for the text of the recording in the body, by the model of the query or the first one."""
    if request.headers.get("content-type", "").lower().startswith("multipart/"):
        told = "The body must be the recording itself; /v1/audio/transcriptions takes forms"
        raise RefusedError(415, "wrong_content_type", told)
    with tempfile.SpooledTemporaryFile(HELD_IN_MEMORY) as file:
        recording = UploadFile(file, filename="the body")  # type: ignore[arg-type]
        async for piece in pieces_of(request, limits, count_bytes):
            try:
                await recording.write(piece)
            except OSError as error:
                raise no_storage(error) from error
        await recording.seek(0)
        yield TranscriptionRequest(recording, request.query_params.get("model") or None, response_format="text")
