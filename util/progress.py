"""Progress bars that stay out of the way of logs and pipes."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType

import progressbar

log = logging.getLogger(__name__)


class Progress:
    """A progress bar on stderr: `with Progress("Training", total=100) as progress: progress.advance()`.

    Where it is disabled, or stderr is no terminal, it draws nothing and logs one line when all is done.
    """

    def __init__(self, title: str, total: int, enabled: bool = True) -> None:
        """`total` is how many steps make the whole."""
        self._title = title
        self._total = total
        self._done = 0
        self._started = time.monotonic()
        self._bar: progressbar.ProgressBar | None = None
        if enabled and sys.stderr.isatty():
            self._bar = progressbar.ProgressBar(max_value=total, prefix=f"{title} ", fd=sys.stderr)

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
        """Say that so many more steps are done; never goes beyond the total."""
        self._done = min(self._done + steps, self._total)
        if self._bar:
            self._bar.update(self._done)
