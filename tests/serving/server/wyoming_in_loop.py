"""A server of Wyoming in the event loop of a test."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from deepspeech.serving.server.models import Models
from deepspeech.serving.server.options import Limits, ServerOptions
from deepspeech.serving.server.service import Service
from deepspeech.serving.server.wyoming.listener import wyoming_listener


@asynccontextmanager
async def served(models: Models, **limits: Any) -> AsyncIterator[tuple[Service, int]]:
    options = ServerOptions((), limits=Limits(**limits), drain_secs=5)
    service = Service(options, models)
    listening = socket.create_server(("127.0.0.1", 0))
    try:
        async with wyoming_listener(service, listening):
            yield service, listening.getsockname()[1]
    finally:
        service.close()


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test())
