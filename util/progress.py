"""What a person sees of work that takes time: bars that stay out of the way of logs and pipes, and messages."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from types import TracebackType

import progressbar

log = logging.getLogger(__name__)

Report = Callable[[str], None]
"""Takes a message of one line, as `report` does."""


def report(message: str) -> None:
    """Print a message of one line to stderr; stdout is kept for results."""
    print(message, file=sys.stderr, flush=True)


class Progress:
    """A progress bar on stderr: `with Progress("Training", total=100) as progress: progress.advance()`.

    If it is disabled, or stderr is not a terminal, it draws nothing and logs one line when all is done.
    """

    def __init__(self, title: str, total: int | None, enabled: bool = True) -> None:
        """Take the number of steps that make the whole as `total`, or None if it is unknown."""
        self._title = title
        self._total = total
        self._done = 0
        self._started = time.monotonic()
        self._bar: progressbar.ProgressBar | None = None
        if enabled and sys.stderr.isatty():
            length: int | type[progressbar.UnknownLength] = progressbar.UnknownLength if total is None else total
            self._bar = progressbar.ProgressBar(max_value=length, prefix=f"{title} ", fd=sys.stderr)

    def __enter__(self) -> Progress:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.finish(dirty=error is not None)
        elif error is None:
            log.info("%s: %d in %.1f s", self._title, self._done, time.monotonic() - self._started)

    def advance(self, steps: int = 1) -> None:
        """Count more steps as done; never goes beyond the total."""
        self._done += steps
        if self._total is not None:
            self._done = min(self._done, self._total)
        if self._bar:
            self._bar.update(self._done)
