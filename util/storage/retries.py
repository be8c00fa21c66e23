"""Retries failed requests to an object store, for a limited time."""

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
"""Seconds between tries: they double from the first to the longest, each multiplied by a random number, 0.5 to 1."""
QUIET_SECONDS = 3.0
"""Shorter failures, in seconds, are not logged."""

_FOR_GOOD = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, NotImplementedError)
_LACKS_CREDENTIALS = "NoCredentialsError"
_FOR_GOOD_BY_NAME = {
    *(_LACKS_CREDENTIALS, "PartialCredentialsError", "CredentialRetrievalError", "ProfileNotFound"),
    *("ParamValidationError", "NoRegionError", "InvalidEndpointConfigurationError", "GatedRepoError"),
}
_OF_THE_NETWORK = {
    *("botocore", "aiobotocore", "aiohttp", "urllib3", "requests", "gcsfs", "google", "fsspec"),
    *("huggingface_hub", "hf_xet", "httpx", "httpx2", "httpcore", "httpcore2"),
}
"""Packages whose exceptions, besides OSError, come from stores and the network."""
DISK_IS_FULL = {errno.ENOSPC, errno.EDQUOT}
_BUSY = {
    *(HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS),
    *(HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED),  # another commit to a repository came first
}
"""Client errors (4xx) for which a retry may succeed."""


class TruncatedError(OSError):
    """Fewer bytes or files arrived than expected, or they were replaced or removed meanwhile."""


def retried(action: Callable[[], Result], what: str, seconds: float) -> Result:
    """Return the result of `action`, retrying after temporary failures for at most `seconds`.

    Raise FileNotFoundError if there is no such file, OSError if this machine's disk is full, or StorageError, which
    begins with `what`, for any other failure that is permanent or lasts too long.
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
    """Return whether an error may be temporary."""
    status = _status_of(error)
    if _goes_in_circles(error):
        return False
    if 400 <= status < 500 and status not in _BUSY:
        return False
    if isinstance(error, FileNotFoundError) and not _is_absence(error):
        return True
    if isinstance(error, _FOR_GOOD) or type(error).__name__ in _FOR_GOOD_BY_NAME:
        return False
    return isinstance(error, OSError | TimeoutError | EOFError) or _is_of_the_network(error)


def is_refusal(error: BaseException | None) -> bool:
    """Return whether a store denies this user access, for example after the credentials have expired, or lacks them.

    Its only sign is the status 400 if the answer has no body.
    """
    if isinstance(error, PermissionError) or lacks_credentials(error):
        return True
    return error is not None and _status_of(error) in (400, 401, 403)


def lacks_credentials(error: BaseException | None) -> bool:
    """Return whether there are no credentials for S3 on this machine."""
    return type(error).__name__ == _LACKS_CREDENTIALS


def reason_of(error: BaseException, otherwise: str = "") -> str:
    """Return an error's message in one line; if it is only a place, return the store's answer or `otherwise`."""
    reason, status = " ".join(str(error).split()), _status_of(error)
    if _goes_in_circles(error):
        return "the server redirects without end; does it ask for a login?"
    if " " in reason:
        return reason
    if status in set(HTTPStatus):
        return f"the answer was {status} {HTTPStatus(status).phrase}"
    if otherwise or error.__cause__ is None:
        return otherwise or reason or type(error).__name__
    return reason_of(error.__cause__)


def _is_absence(error: BaseException) -> bool:
    """Return whether there is no such file; fsspec reports every failure over HTTP like this, with the true cause."""
    if not isinstance(error, FileNotFoundError):
        return False
    cause, status = error.__cause__, _status_of(error)
    return cause is None or status in (404, 410) or (status == 0 and not _is_failure_of_http(cause))


def _is_failure_of_http(cause: BaseException) -> bool:
    """Return whether a server could not be reached, or broke off; causes of other stores have an answer's status."""
    of_aiohttp = any(kind.__module__.partition(".")[0] == "aiohttp" for kind in type(cause).__mro__)
    return isinstance(cause, OSError | TimeoutError) or (of_aiohttp and not isinstance(cause, ValueError))


def _goes_in_circles(error: BaseException) -> bool:
    return "TooManyRedirects" in (type(error).__name__, type(error.__cause__).__name__)


def _status_of(error: BaseException) -> int:
    """Return the HTTP status in an error of a store's library, or in its cause; else 0."""
    if type(error) is OSError and str(error).startswith("Forbidden: "):  # gcsfs's form
        return HTTPStatus.FORBIDDEN
    for each in filter(_is_of_the_network, filter(None, (error, error.__cause__))):
        told = vars(each).get("status") or vars(each).get("code")
        response = vars(each).get("response")
        if isinstance(response, dict):  # of S3; its code is a word if the answer has a body
            told = response.get("Error", {}).get("Code")
        told = told or getattr(response, "status_code", None)
        return int(str(told)) if str(told).isdecimal() else 0
    return 0


def _is_of_the_network(error: BaseException) -> bool:
    if type(error).__name__ in {"FSTimeoutError", "CancelledError"}:
        return True
    return any(kind.__module__.partition(".")[0] in _OF_THE_NETWORK for kind in type(error).__mro__)
