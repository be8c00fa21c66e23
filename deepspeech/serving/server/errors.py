"""The errors of refused requests, in the form of OpenAI's interface, and the log of failures."""

import logging
import traceback
from collections.abc import Mapping
from typing import Any

logger = logging.getLogger(__name__)

RETRY_SECONDS = 2
"""Seconds after which a client may try again if the server was busy."""

HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"www-authenticate": "Bearer"},
    426: {"upgrade": "websocket", "connection": "upgrade"},
    503: {"retry-after": str(RETRY_SECONDS)},
}
"""The headers that belong to a status."""


class RefusedError(Exception):
    """A request is refused: the HTTP status, a code for programs, a message for people, and the field at fault."""

    def __init__(self, status: int, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers that belong to the status."""
        return HEADERS.get(self.status, {})

    def to_json(self) -> dict[str, Any]:
        """Return the error as OpenAI's interface writes it."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}


def busy(what: str) -> RefusedError:
    """Return the refusal of a request because the server is busy; `what` says why."""
    return RefusedError(503, "server_busy", f"{what}; try again in {RETRY_SECONDS} seconds")


def being_stopped() -> RefusedError:
    """Return the refusal of a request that arrives, or is not yet answered, when the server stops."""
    return busy("The server is being stopped")


def failed(what: str, error: BaseException) -> RefusedError:
    """Log why something failed, in one line, and its traceback at debug level; return the error for the client."""
    frames = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f" ({frame.filename.rpartition('/')[2]}:{frame.lineno})" for frame in frames)
    logger.error("%s failed: %s: %s%s", what, type(error).__name__, " ".join(str(error).split()), where)
    logger.debug("traceback", exc_info=error)
    return RefusedError(500, "internal_error", "The server failed; its log says why")
