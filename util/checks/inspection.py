"""Inspection of recordings and their parts for the rows of a corpus; a recording with many parts is inspected once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from threading import Lock

from ..audio import AudioInfo, inspect_audio, is_silent
from ..errors import AudioError
from ..parts import MOST_OVERRUN, Part, clipped
from .checked_recordings import CheckedRecordings

MOST_KEPT = 10_000
"""Recordings whose inspection is kept; rows of a recording are mostly neighbours in their list."""


class Inspection:
    """Inspects recordings; any number of threads may use it at the same time."""

    def __init__(self, known: CheckedRecordings | None = None) -> None:
        """Take the known recordings, to which new results are added."""
        self._known = known
        self._inspect: Callable[[str], AudioInfo] = known.inspect if known else inspect_audio
        self._lock = Lock()
        self._found: dict[str, Future[AudioInfo | str]] = {}

    def inspect(self, path: str, part: Part | None = None) -> tuple[AudioInfo, Part | None]:
        """Return what a recording, or a part, holds, and the part cut to its length; None if it is the whole.

        Raise AudioError, or PartError if the recording has no such part.
        """
        if part is None:
            return self._inspect(path), None
        audio = self._inspect_once(path)
        part = clipped(part, audio.samples / audio.sample_rate, MOST_OVERRUN)
        if part is None:
            return audio, None
        silent = audio.silent or self._is_silent(path, part, audio)
        return replace(audio, samples=len(part.samples(audio.sample_rate, audio.samples)), silent=silent), part

    def part_within(self, path: str, part: Part | None) -> Part | None:
        """Return the part as `inspect` does; None for the whole, which is not inspected. Raise what that raises."""
        return None if part is None else self.inspect(path, part)[1]

    def _is_silent(self, path: str, part: Part, audio: AudioInfo) -> bool:
        return self._known.is_silent(path, part, audio) if self._known else is_silent(path, part)

    def _inspect_once(self, path: str) -> AudioInfo:
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
