"""A file of recordings that were checked, so that later starts need not open or decode them again.

A recording, or a part of one, is recognized by its path, size and modification time, as in feature caches. Looking up a
wav takes an eighth of the time of reading its header.
"""

from __future__ import annotations

import hashlib
import logging
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np

from ..audio import AudioInfo, inspect_audio, is_silent, reader_version
from ..files.user_folders import cache_folder
from ..files.whole_files import write_whole
from ..parts import Part

log = logging.getLogger(__name__)

MOST_REMEMBERED = 2_000_000
"""The most recordings in the file, which limits it to 64 MB; the least recently used are removed first."""

_HEAD = b"deepspeech checked recordings 1\n"
_RECORD = np.dtype([("key", "S16"), ("samples", "<u8"), ("sample_rate", "<u4"), ("channels", "<u4")])
_PACKED = Struct("<16sQII")
"""A record as bytes."""
_CHECKSUM_BYTES = 4

_Known = tuple[int, int, int]
"""Samples, sample rate and channels."""
_Records = np.ndarray[Any, np.dtype[np.void]]
"""Records [recordings], the most recently used last; 32 bytes each, as there can be millions."""


def users_file() -> Path:
    """Return the file in the user's cache folder."""
    return cache_folder() / "checked_recordings"


class CheckedRecordings:
    """The known recordings. Any number of threads may inspect recordings at the same time."""

    def __init__(self, path: Path) -> None:
        """Take the file to read and write; a missing, unreadable or damaged one counts as empty."""
        self._path = path
        self._version = reader_version()
        self._before = _read(path)
        self._order = np.argsort(self._before["key"])
        self._keys = self._before["key"][self._order]
        self._used = bytearray()
        """The records of the recordings that were inspected; some may be repeated."""
        self._news = False

    def inspect(self, path: str | PathLike[str]) -> AudioInfo:
        """Do the same as `inspect_audio`, without decoding a recording that is known as good. Raise its AudioError."""
        try:
            status = Path(path).stat()
            known = self._known(key := self._key(path, status.st_size, status.st_mtime_ns))
        except (OSError, ValueError):
            return inspect_audio(path)
        if known is not None:
            self._use(key, known)
            return AudioInfo(*known, status.st_size, status.st_mtime_ns, decoded=True)
        audio = inspect_audio(path)
        if not audio.silent:
            found = (audio.samples, audio.sample_rate, audio.channels)
            self._use(self._key(path, audio.file_size, audio.modified_ns), found)
            self._news = True
        return audio

    def is_silent(self, path: str | PathLike[str], part: Part, audio: AudioInfo) -> bool:
        """Do the same as `is_silent`, without decoding a part that is known as good. Raise its AudioError.

        `audio` is what the whole recording holds.
        """
        key = self._key(f"{path}{part.fragment}", audio.file_size, audio.modified_ns)
        known = self._known(key)
        if known is None:
            if is_silent(path, part):
                return True
            known = (audio.samples, audio.sample_rate, audio.channels)
            self._news = True
        self._use(key, known)
        return False

    def _use(self, key: bytes, known: _Known) -> None:
        self._used.extend(_PACKED.pack(key, *known))

    def _key(self, path: str | PathLike[str], size: int, modified_ns: int) -> bytes:
        text = f"{self._version}\0{Path(path).absolute()}\0{size}\0{modified_ns}"
        return hashlib.blake2b(os.fsencode(text), digest_size=_RECORD["key"].itemsize).digest()

    def _known(self, key: bytes) -> _Known | None:
        place = int(np.searchsorted(self._keys, np.array(key, self._keys.dtype)))
        if place == len(self._keys) or self._keys[place : place + 1].tobytes() != key:
            return None
        _, samples, sample_rate, channels = self._before[self._order[place]].item()
        return samples, sample_rate, channels

    def save(self) -> None:
        """Add new results to the file, if there are any; log at debug level if it cannot be written.

        If two processes save at once, the results of one can be lost; they are then computed again.
        """
        if not self._news:
            return
        used = np.frombuffer(bytes(self._used), _RECORD)
        known = _newest(np.concatenate([_read(self._path), self._before, used]))
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, _encoded(known))
        except OSError as error:
            log.debug("%s: checks of recordings are not remembered (%s)", self._path, error.strerror)


@contextmanager
def checked_recordings(path: Path | None) -> Iterator[CheckedRecordings | None]:
    """Yield the known recordings of the file at `path`, None without a path; save new results, even after an error."""
    if path is None:
        yield None
        return
    checked = CheckedRecordings(path)
    try:
        yield checked
    finally:
        checked.save()


def _read(path: Path) -> _Records:
    nothing = np.zeros(0, _RECORD)
    try:
        content = path.read_bytes()
    except OSError:
        return nothing
    head, records = content[: len(_HEAD) + _CHECKSUM_BYTES], content[len(_HEAD) + _CHECKSUM_BYTES :]
    if head != _HEAD + _checksum(records) or len(records) % _RECORD.itemsize:
        return nothing
    return np.frombuffer(records, _RECORD)


def _newest(records: _Records) -> _Records:
    """Return the newest record of each key, as many as are remembered."""
    _, places_from_end = np.unique(records["key"][::-1], return_index=True)
    places = np.sort(len(records) - 1 - places_from_end)
    return records[places[-MOST_REMEMBERED:]]


def _encoded(known: _Records) -> bytes:
    records = known.tobytes()
    return _HEAD + _checksum(records) + records


def _checksum(records: bytes) -> bytes:
    return zlib.crc32(records).to_bytes(_CHECKSUM_BYTES, "little")
