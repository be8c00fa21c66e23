"""The server's process: listening, signals, and a shutdown that lets work in progress finish."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from dataclasses import replace

import uvicorn

from ...errors import FlagError, ServerError
from ...util.web import listening
from ...util.web.connections import allow_more_files
from .application import application
from .models import Models
from .options import ServerOptions
from .protocols import http_protocol, websocket_protocol
from .service import Service
from .wyoming.listener import wyoming_listener

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.05
"""Seconds between checks whether all clients have been served."""

LAST_SECONDS = 2.0
"""Seconds for which threads may still run after the server has stopped."""

PING_SECONDS = 20.0
"""Seconds between the pings of a WebSocket."""

BACKLOG = 256

SWITCH_SECONDS = 0.02
"""Seconds after which a thread that runs Python yields to another; long computations do not hold Python's lock."""


def listen(host: str, port: int, flag: str = "port") -> socket.socket:
    """Return a socket that listens at an address; raise FlagError, naming the port's flag, if that is not possible."""
    try:
        return listening.listen(host, port, BACKLOG)
    except OSError as error:
        where = f"--host={host} --{flag}={port}"
        raise FlagError(
            f"{where}: the server cannot listen ({error.strerror}); choose another address or port"
        ) from error


class RecognitionServer(uvicorn.Server):
    """Serves models over HTTP and WebSocket until it is told to stop; `run` is called once."""

    def __init__(
        self,
        options: ServerOptions,
        models: Models,
        say: Callable[[str], None] = logger.info,
        wyoming: socket.socket | None = None,
    ) -> None:
        """Serve these models; `say` prints a line for the person who started the server.

        `wyoming` is a listening socket for clients of that protocol.
        """
        self.options = options
        self.models = models
        self._say = say
        self._ending: asyncio.Task[None] | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        """The event loop, while the server runs."""
        self._wyoming = wyoming
        self._beside = AsyncExitStack()
        limits = options.limits
        config = uvicorn.Config(
            self._application,
            factory=True,
            http=http_protocol(limits, lambda code: self.service.metrics.refused.labels(code).inc()),
            ws=websocket_protocol(limits),
            ws_max_size=limits.max_message_kilobytes << 10,
            ws_ping_interval=PING_SECONDS,
            ws_ping_timeout=max(limits.max_pending_seconds, PING_SECONDS) * 3,
            ws_per_message_deflate=False,
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
            ssl_certfile=options.tls_certificate,
            ssl_keyfile=options.tls_key,
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        if self._wyoming is not None and self.started:
            await self._beside.enter_async_context(wyoming_listener(self.service, self._wyoming))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, after `drain` or at once."""
        await self._beside.aclose()
        await super().shutdown(sockets)

    def drain(self) -> None:
        """Accept no further work, finish the work in progress, then stop; callable from any thread."""
        if self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._begin_to_end)

    def reload(self) -> None:
        """Load the models again, on a thread; a running stream keeps the model that it began with."""
        threading.Thread(target=self._reload, name="reload", daemon=True).start()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals within the context: SIGTERM and SIGINT stop the server, SIGHUP loads the models again."""
        self.loop = loop = asyncio.get_running_loop()
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handlers = {signal.SIGTERM: self._begin_to_end, signal.SIGINT: self._begin_to_end, signal.SIGHUP: self.reload}
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})  # the command blocks it until here
        try:
            yield
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    def _application(self) -> object:
        self.service = Service(self.options, self.models)
        return application(self.service)

    def _begin_to_end(self) -> None:
        if self._ending is not None:  # the second signal: stop at once
            self.should_exit = self.force_exit = True
            self.service.over.set()
            return
        self._ending = asyncio.ensure_future(self._drain())

    async def _drain(self) -> None:
        self.service.draining.set()
        deadline = time.monotonic() + self.options.drain_secs
        while not self.service.idle and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_SECONDS)
        self.service.over.set()
        self.should_exit = True

    def _reload(self) -> None:
        wrong = self.models.reload()
        self.service.metrics.loaded(self.models.all, wrong)
        for line in wrong.values():
            self._say(line)
        self._say(f"models loaded again: {len(self.models.all) - len(wrong)} of {len(self.models.all)}")


def serve(options: ServerOptions, say: Callable[[str], None]) -> None:
    """Load the models and serve them until a signal stops the server; `say` prints its addresses."""
    _let_threads_finish()
    options = _with_as_many_connections_as_files(options, say)
    with _ended_by_signals(), ExitStack() as sockets:
        listening = sockets.enter_context(listen(options.host, options.port))
        wyoming = None
        if options.wyoming_port is not None:
            wyoming = sockets.enter_context(listen(options.host, options.wyoming_port, "wyoming_port"))
        models = Models(options.models, voice_activity=options.voice_activity)
        server = RecognitionServer(options, models, say, wyoming)
        scheme = "https" if options.tls_certificate else "http"
        host = f"[{options.host}]" if ":" in options.host else options.host
        say(
            f"serving {', '.join(each.name for each in options.models)} at {scheme}://{host}:{listening.getsockname()[1]}/"
        )
        if wyoming is not None:
            say(f"serving Wyoming at tcp://{host}:{wyoming.getsockname()[1]}")
        gc.freeze()  # so that the collector, which stops all threads, skips permanent objects
        server.run(sockets=[listening])
    if not server.started:
        raise ServerError("the server could not be started")
    server.service.recordings.remove()
    _end_soon()


def _with_as_many_connections_as_files(options: ServerOptions, say: Callable[[str], None]) -> ServerOptions:
    """Return options with no more connections than the process may open files for; `say` prints if they are fewer."""
    asked, most = options.limits.max_connections, allow_more_files().in_all
    if asked <= most:
        return options
    say(f"--max_connections={asked}: only {most} are accepted, as the system limits open files (see `ulimit -n`)")
    return replace(options, limits=replace(options.limits, max_connections=most))


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGINT end the process at once, with exit code 0, while the server does not handle them."""
    earlier = {number: signal.signal(number, lambda *_: os._exit(0)) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _end_soon() -> None:
    """End the process after `LAST_SECONDS`, even if a thread is still working."""
    ending = threading.Timer(LAST_SECONDS, os._exit, (0,))
    ending.daemon = True
    ending.start()


def _let_threads_finish() -> None:
    """Keep threads that wake up from interrupting those that compute, where the system supports this.

    With 70 live streams on two cores, interruptions were a third of the time to a partial.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    if hasattr(os, "SCHED_BATCH") and os.sched_getscheduler(0) == os.SCHED_OTHER:
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
