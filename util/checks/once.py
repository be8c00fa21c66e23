"""Recordings of which many rows are parts: each is inspected once, whichever thread asks first."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock

from ..audio import AudioInfo
from ..errors import AudioError

MOST_KEPT = 10_000
"""Recordings that are known at the same time; rows of a recording mostly are neighbours in their list."""


class Once:
    """Inspects each recording once; any number of threads may ask at the same time."""

    def __init__(self, inspect: Callable[[str], AudioInfo]) -> None:
        """Take what inspects a recording, or raises AudioError."""
        self._inspect = inspect
        self._lock = Lock()
        self._found: dict[str, Future[AudioInfo | str]] = {}

    def inspect(self, path: str) -> AudioInfo:
        """Return what a recording holds. Raise AudioError."""
        with self._lock:
            first = path not in self._found
            future = self._found.setdefault(path, Future())
            if len(self._found) > MOST_KEPT:
                del self._found[next(iter(self._found))]
        if first:
            try:
                future.set_result(self._inspect(path))
            except AudioError as error:
                future.set_result(str(error))
            except BaseException as error:
                future.set_exception(error)
                raise
        found = future.result()
        if isinstance(found, str):
            raise AudioError(found)
        return found
