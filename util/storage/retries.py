"""Trying again what failed on the way to an object store, until it has failed for too long."""

from __future__ import annotations

import errno
import logging
import random
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar

from ..errors import StorageError

log = logging.getLogger(__name__)

Result = TypeVar("Result")

FIRST_WAIT = 0.1
LONGEST_WAIT = 10.0
"""Seconds between tries: they double from the first to the longest, each times a number drawn from 0.5 to 1."""
QUIET_SECONDS = 3.0
"""Seconds of failures that are not worth a line in the log."""

_FOR_GOOD = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, NotImplementedError)
_FOR_GOOD_BY_NAME = {
    *("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "ProfileNotFound"),
    *("ParamValidationError", "NoRegionError", "InvalidEndpointConfigurationError", "GatedRepoError"),
}
_OF_THE_NETWORK = {
    *("botocore", "aiobotocore", "aiohttp", "urllib3", "requests", "httpx", "httpcore", "gcsfs", "google"),
    *("huggingface_hub", "fsspec"),
}
"""Packages whose exceptions, beside OSError, come of stores and of the way there."""
DISK_IS_FULL = {errno.ENOSPC, errno.EDQUOT}
_BUSY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
"""Answers to a client at fault that may be others at the next try."""


class TruncatedError(OSError):
    """Fewer bytes or files arrived than there are, or they were replaced or removed meanwhile."""


def retried(action: Callable[[], Result], what: str, seconds: float) -> Result:
    """Return what `action` returns, trying again after failures that may pass, for at most `seconds`.

    Raise FileNotFoundError if there is no such file, OSError if this machine's disk is full, or StorageError, which
    begins with `what`, for any other failure that will not pass or has not passed.
    """
    began: float | None = None
    wait, told = FIRST_WAIT, False
    while True:
        try:
            result = action()
        except Exception as error:
            if _is_absence(error) or getattr(error, "errno", None) in DISK_IS_FULL:
                raise
            if not may_pass(error):
                if not isinstance(error, OSError | ValueError) and not _is_of_the_network(error):
                    raise
                raise StorageError(f"{what}: {reason_of(error)}") from error
            now = time.monotonic()
            began = now if began is None else began
            if now - began >= seconds:
                raise StorageError(f"{what}: {reason_of(error)}; tried for {seconds:g} seconds") from error
            if now - began >= QUIET_SECONDS and not told:
                told = True
                log.warning("%s: %s; trying for %g seconds in all", what, reason_of(error), seconds)
            time.sleep(min(wait * random.uniform(0.5, 1.0), max(0.0, began + seconds - now)))
            wait = min(2 * wait, LONGEST_WAIT)
        else:
            if told and began is not None:
                log.info("%s: went on after %.0f seconds", what, time.monotonic() - began)
            return result


def may_pass(error: BaseException) -> bool:
    """Return whether an error may be gone at the next try."""
    status = _status_of(error)
    if 400 <= status < 500 and status not in _BUSY:
        return False
    if isinstance(error, FileNotFoundError) and not _is_absence(error):
        return True
    if isinstance(error, _FOR_GOOD) or type(error).__name__ in _FOR_GOOD_BY_NAME:
        return False
    return isinstance(error, OSError | TimeoutError | EOFError) or _is_of_the_network(error)


def is_refusal(error: BaseException | None) -> bool:
    """Return whether a store does not let this user have what was asked for, as it may after credentials expired.

    It says no more than 400 then where the answer has no body.
    """
    return isinstance(error, PermissionError) or (error is not None and _status_of(error) in (400, 401, 403))


def reason_of(error: BaseException, otherwise: str = "") -> str:
    """Return what an error says, in one line; of one that says only where it was, the store's answer or `otherwise`."""
    reason, status = " ".join(str(error).split()), _status_of(error)
    if " " in reason:
        return reason
    if status in set(HTTPStatus):
        return f"the answer was {status} {HTTPStatus(status).phrase}"
    if otherwise or error.__cause__ is None:
        return otherwise or reason or type(error).__name__
    return reason_of(error.__cause__)


def _is_absence(error: BaseException) -> bool:
    """Return whether there is no such file; fsspec says so of every failure over HTTP, and names the cause."""
    if not isinstance(error, FileNotFoundError):
        return False
    cause, status = error.__cause__, _status_of(error)
    return cause is None or status in (404, 410) or (status == 0 and not _is_failure_of_http(cause))


def _is_failure_of_http(cause: BaseException) -> bool:
    """Return whether a server could not be asked, or broke off; other stores' causes tell what their answer was."""
    of_aiohttp = any(kind.__module__.partition(".")[0] == "aiohttp" for kind in type(cause).__mro__)
    return isinstance(cause, OSError | TimeoutError) or (of_aiohttp and not isinstance(cause, ValueError))


def _status_of(error: BaseException) -> int:
    """Return the status of HTTP that an error, or its cause, tells of, as stores' libraries do; else 0."""
    if type(error) is OSError and str(error).startswith("Forbidden: "):  # so gcsfs says it
        return HTTPStatus.FORBIDDEN
    for each in filter(_is_of_the_network, filter(None, (error, error.__cause__))):
        told = vars(each).get("status") or vars(each).get("code")
        response = vars(each).get("response")
        if isinstance(response, dict):  # S3's, which has a code in words where the answer has a body
            told = response.get("Error", {}).get("Code")
        told = told or getattr(response, "status_code", None)
        return int(str(told)) if str(told).isdecimal() else 0
    return 0


def _is_of_the_network(error: BaseException) -> bool:
    if type(error).__name__ in {"FSTimeoutError", "CancelledError"}:
        return True
    return any(kind.__module__.partition(".")[0] in _OF_THE_NETWORK for kind in type(error).__mro__)
