"""Lines of the log, as text for a terminal, or as JSON, one object a line, for programs that collect logs."""

import json
import logging
import sys
import threading
import time
from collections.abc import Callable
from datetime import datetime, timezone
from itertools import chain
from types import TracebackType

TEXT, JSON = "text", "json"
FORMATS = (TEXT, JSON)
"""The formats of a log."""

LETTER_AND_MESSAGE = "%(levelname).1s %(message)s"
"""The usual form of a line of text."""

_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """Return a text with control characters as escapes: names of files may hold commands for the terminal."""
    return text.translate(_ESCAPES)


class TextLines(logging.Formatter):
    """Makes a printable text of each record, in a form that Python's logging describes."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record."""
        return printable(super().format(record))


def text_handler(form: str = LETTER_AND_MESSAGE) -> logging.Handler:
    """Return what writes the log to stderr as text of this form."""
    handler = logging.StreamHandler()
    handler.setFormatter(TextLines(form))
    return handler


def log_progress(*, force: bool = False) -> None:
    """Write the log of this package to stderr as text, with its progress; of other libraries, only warnings.

    If the log is written somewhere already, it stays so, except with `force`.
    """
    handler = text_handler()
    handler.addFilter(lambda record: record.levelno > logging.INFO or record.name.startswith("deepspeech."))
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=force)


class JSONLines(logging.Formatter):
    """Makes a JSON object of each record: `time` (UTC), `level`, `logger`, `node`, `message`, `exception`."""

    def __init__(self, node: Callable[[], str]) -> None:
        """Take `node`, which returns the source of a line at that moment, such as "worker 1", or a program's name."""
        super().__init__()
        self._node = node

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        exception = self.formatException(record.exc_info) if record.exc_info else None
        return self.line(record.getMessage(), record.levelname, record.name, record.created, exception)

    def line(self, message: str, level: str, logger: str, seconds: float, exception: str | None = None) -> str:
        """Return a line; `seconds` is the time since the epoch."""
        told = {
            "time": datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds"),
            "level": level.lower(),
            "logger": logger,
            "node": self._node(),
            "message": message,
        }
        if exception is not None:
            told["exception"] = exception
        return json.dumps(told, ensure_ascii=False)


def last_words(message: str, program: str = "deepspeech", level: str = "error") -> str:
    """Format a message that a program prints outside its log: after its name and a colon or, as its log, as JSON."""
    lines = json_of_log()
    return f"{program}: {printable(message)}" if lines is None else lines.line(message, level, program, time.time())


def json_of_log() -> JSONLines | None:
    """Return the formatter of the log, if the log is JSON."""
    handlers = chain(logging.getLogger("deepspeech").handlers, logging.getLogger().handlers)
    formatters = (handler.formatter for handler in handlers)
    return next((formatter for formatter in formatters if isinstance(formatter, JSONLines)), None)


def log_all_with(handler: logging.Handler) -> None:
    """Let a handler also write the logs of other libraries, Python's warnings, and unhandled exceptions."""
    root = logging.getLogger()
    root.handlers = [handler]
    logging.captureWarnings(True)

    def fail(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        root.critical("the program has failed", exc_info=(kind, error, trace))

    def fail_in_thread(told: threading.ExceptHookArgs) -> None:
        error = told.exc_value or told.exc_type()
        name = told.thread.name if told.thread is not None else "unknown"
        root.critical("the thread %s has failed", name, exc_info=(told.exc_type, error, told.exc_traceback))

    sys.excepthook, threading.excepthook = fail, fail_in_thread
