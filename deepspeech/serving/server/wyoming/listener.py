"""The listener for clients of Wyoming."""

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
    """Serve Wyoming on a listening socket within the context; the socket is closed at the end.

    At the end, every client that is sending speech gets the transcript so far, unless the service is over.
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
        except (OSError, asyncio.TimeoutError, asyncio.CancelledError):
            pass  # the client has disconnected or does not read, or the time is up
        finally:
            connections.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, sock=listening, limit=LONGEST_LINE)
    try:
        yield
    finally:
        server.close()
        service.draining.set()
        asyncio.get_running_loop().call_later(service.options.drain_secs, service.over.set)
        over = asyncio.ensure_future(service.over.wait())
        while connections and not over.done():
            await asyncio.wait((over, *connections), return_when=asyncio.FIRST_COMPLETED)
        for task in (over, *connections):
            task.cancel()
