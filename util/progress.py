"""The progress of long work for a person: bars on a terminal, lines in a log elsewhere, and messages."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TypeVar

from .figures.counted import counted
from .monitoring.log_lines import json_of_log, printable
from .signals import drop_standard_error

log = logging.getLogger(__name__)

Step = TypeVar("Step")

Report = Callable[[str], None]
"""Takes a message of one line, as `report` does."""

FIRST_LINE_SECONDS = 30.0
"""Seconds before the first line on work without a bar, and between lines in its first minutes."""

LONGEST_SILENCE_SECONDS = 300.0
"""Seconds between lines on work that takes hours."""


def report(message: str) -> None:
    """Print a message of one line to stderr, in JSON where the log is; stdout is kept for results.

    The work goes on if the reader of stderr has closed it, as after lines of the log.
    """
    lines = json_of_log()
    line = printable(message) if lines is None else lines.line(message, "info", __name__, time.time())
    try:
        print(line, file=sys.stderr, flush=True)
    except BrokenPipeError:
        drop_standard_error()


SHORT_SECONDS = 1.0
"""Quick work that few users wait for takes less, and has no line."""

BESIDE_TEXTS = 12
"""Columns of a bar's line that its title and text leave free for the percentage and the bar."""


class Progress:
    """The progress of some work: `with Progress("Training", total=100) as progress: progress.advance()`.

    On a terminal it is a bar on stderr. If that is disabled, stderr is not a terminal, the log is JSON, or progressbar2
    is not installed, a line is logged now and then, and one at the end; work of less than half a minute has only the
    last line.
    """

    def __init__(
        self,
        title: str,
        total: int | None,
        enabled: bool = True,
        *,
        unit: str = "",
        before: int = 0,
        effort: Sequence[float] | None = None,
        told_if_short: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the number of all steps as `total`, or None if it is unknown.

        `unit` is the noun for a step, in the singular. `before` steps were done before an interruption, in an unknown
        time, so the pace does not count them. If steps take different times, `effort[n]` is the work of the first n
        steps, in any unit and for n from 0 to the total; the time left follows from it. Unless it is `told_if_short`,
        work that ends within a second has no line.
        """
        self._title = title
        self._total = total
        self._unit = unit
        self._before = before
        self._effort = effort
        self._least_seconds = 0.0 if told_if_short else SHORT_SECONDS
        self._clock = clock
        self._done = before
        self._note = ""
        self._started = clock()
        self._next_line = FIRST_LINE_SECONDS
        self._texts: Any = ()
        self._bar = self._make_bar() if enabled and sys.stderr.isatty() and json_of_log() is None else None

    def __enter__(self) -> Progress:
        self._draw(lambda bar: bar.start())
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish(dirty=error is not None)
        if not self._bar and error is None and self._clock() - self._started >= self._least_seconds:
            log.info("%s: %s", self._title, self.summary())

    @property
    def rate(self) -> float:
        """Steps a second in this run."""
        seconds = self._clock() - self._started
        return (self._done - self._before) / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The remaining seconds at the pace of this run; None before there is a pace, or without a total."""
        if self._total is None or self._done == self._before:
            return None
        effort = range(self._total + 1) if self._effort is None else self._effort
        spent = effort[self._done] - effort[self._before]
        return (self._clock() - self._started) * (effort[self._total] - effort[self._done]) / spent

    def counting(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield steps, and count each as done."""
        for step in steps:
            self.advance()
            yield step

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Count more steps as done, but never beyond the total; `note` is a comment on the work so far."""
        self._done += steps
        if self._total is not None:
            self._done = min(self._done, self._total)
        self._note = note
        if self._bar:
            self._draw(lambda bar: bar.update(self._done))
        elif self._clock() - self._started >= self._next_line:
            log.info("%s", self._line())
            seconds = self._clock() - self._started
            self._next_line = seconds + min(max(seconds / 5, FIRST_LINE_SECONDS), LONGEST_SILENCE_SECONDS)

    def make_room(self) -> None:
        """Put the next message on a line of its own below the bar, which is drawn again below it."""
        self._draw(lambda _: print(file=sys.stderr, flush=True))

    def finish(self, *, dirty: bool = False) -> None:
        """End the bar; `dirty` leaves it as it is, without filling it."""
        self._draw(lambda bar: bar.finish(dirty=dirty))

    def summary(self) -> str:
        """Return what this run did in words: steps, seconds and, after a second or more, steps a second."""
        seconds = self._clock() - self._started
        parts = [f"{self._counted(self._done - self._before)} in {seconds:.1f} s"]
        if seconds >= 1:
            parts.append(self._pace())
        if self._before:
            parts.append(f"after {self._before} before an interruption")
        return ", ".join(parts)

    def _draw(self, act: Callable[[Any], object]) -> None:
        if self._bar:
            try:
                self._fit_texts(self._bar.term_width)
                act(self._bar)
            except OSError:  # the terminal was closed, which a signal reports, too
                self._bar = None

    def _fit_texts(self, columns: int) -> None:
        """Shorten the line to the terminal's width: a longer one would be drawn below itself on each update."""
        room = columns - BESIDE_TEXTS
        details = self._details() if self._done > self._before else ""
        title = _end_of(self._title, max(room - len(details), room // 2))
        for widget, text in zip(self._texts, (title, details[: max(room - len(title), 0)]), strict=True):
            widget.update_mapping(text=text)

    def _make_bar(self) -> Any:
        """Return the bar; None without progressbar2, which comes with what training needs."""
        try:
            import progressbar
        except ModuleNotFoundError:
            return None
        self._texts = tuple(progressbar.FormatCustomText("%(text)s", {"text": ""}) for _ in range(2))
        title, details = self._texts
        counted = progressbar.Counter() if self._total is None else progressbar.Percentage()
        drawn = progressbar.AnimatedMarker() if self._total is None else progressbar.Bar()
        return progressbar.ProgressBar(
            max_value=progressbar.UnknownLength if self._total is None else self._total,
            widgets=[title, " ", counted, " ", drawn, " ", details],
            fd=sys.stderr,
        )

    def _line(self) -> str:
        done = self._counted(self._done)
        if self._total is not None:
            done = f"{100 * self._done // max(self._total, 1)} % of {self._counted(self._total)}"
        return f"{self._title}: {done}, {self._details()}"

    def _details(self) -> str:
        left = self.seconds_left
        texts = (self._note, self._pace(), f"{duration(left)} left" if left else "")
        return ", ".join(filter(None, texts))

    def _pace(self) -> str:
        unit = f" {self._unit}s" if self._unit else ""
        return f"{self.rate:{'.0f' if self.rate >= 100 else '.3g'}}{unit}/s"

    def _counted(self, steps: int) -> str:
        return counted(steps, self._unit) if self._unit else str(steps)


def _end_of(text: str, length: int) -> str:
    return text if len(text) <= length else f"…{text[len(text) - length + 1 :]}" if length > 1 else ""


def duration(seconds: float) -> str:
    """Return a duration in words: "9 s", "5 min 3 s" or "2 h 10 min"."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{rest} s"
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def without_warnings() -> Iterator[None]:
    """Log only progress and errors, for reading lists and folders before the work that warns of what is in them."""
    everything, of_progress = (logging.getLogger(name) for name in (__name__.partition(".")[0], __name__))
    levels = everything.level, of_progress.level
    of_progress.setLevel(of_progress.getEffectiveLevel())
    everything.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip((everything, of_progress), levels, strict=True):
            logger.setLevel(level)
