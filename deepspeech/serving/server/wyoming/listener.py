"""Where clients of Wyoming connect."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ....util.web.limited_protocol import is_room_to_refuse
from ..errors import busy
from ..service import Service
from .connection import Connection
from .reading import LONGEST_LINE


@asynccontextmanager
async def wyoming_listener(service: Service, listening: socket.socket) -> AsyncIterator[None]:
    """Serve Wyoming meanwhile, on a socket that listens; it is closed at the end.

    At the end every client that speaks is told the transcript of what it has said so far.
    """
    connections: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            connection, most = Connection(service, reader, writer), service.limits.max_connections
            if len(connections) <= most:
                await connection.serve()
            elif is_room_to_refuse(len(connections), most):
                await connection.refuse(busy("Too many connections"))
        except (OSError, asyncio.TimeoutError):
            pass  # the client has gone, or does not read
        finally:
            connections.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, sock=listening, limit=LONGEST_LINE)
    try:
        yield
    finally:
        server.close()
        service.draining.set()
        if connections:
            _, late = await asyncio.wait(connections, timeout=service.options.drain_secs)
            for task in late:
                task.cancel()
