"""Access to files at addresses through fsspec, with retries: status, lists, fetching, sending and removing."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ..errors import StorageError
from .addresses import READ_ONLY, scheme_of, without_user
from .file_systems import file_system, forget
from .retries import DISK_IS_FULL, TruncatedError, is_refusal, lacks_credentials, reason_of, retried

Result = TypeVar("Result")

BLOCK = 16 << 20
"""Bytes of a file that are fetched at once: the most that a broken connection loses."""

NO_BUCKET = "there is no such bucket"
_NO_BUCKET_ERRORS = {
    *("NoSuchBucket", "BucketNotFoundError"),
    *("RepositoryNotFoundError", "RevisionNotFoundError", "HFValidationError"),
}


class DiskFullError(StorageError):
    """This machine's disk is too full for a fetched file."""


class StoreRefusalError(StorageError):
    """A store denies this user what was asked for."""


@dataclass(frozen=True)
class Remote:
    """A file at an address, as reported by the store."""

    size: int
    """Bytes."""
    version: str
    """A value that changes with the content: an entity tag, or else the time of modification."""
    modified_ns: int
    """Modification time in nanoseconds; if the store reports none, a number derived from the version."""

    def is_at(self, path: Path) -> bool:
        """Return whether the copy at a path, which has its original's time, is of this version. Raise OSError."""
        status = path.stat()
        return status.st_mtime_ns == self.modified_ns and self.size in (status.st_size, -1)


@dataclass(frozen=True)
class Store:
    """The object stores; failed requests are retried for `retry_seconds`.

    Methods raise StorageError, in one line, for failures that are permanent or last too long, and FileNotFoundError if
    there is no such file.
    """

    retry_seconds: float

    def about(self, address: str) -> Remote:
        """Return what the store reports on a file."""
        return self._retried(partial(_told_of, address), address)

    def list(self, folder: str) -> dict[str, Remote]:
        """Return the files below a folder, by their relative names; none if there is no such folder.

        Raise StorageError if there is no such bucket or, on the hub, no such repository.

        An empty object whose name ends with a slash is a folder, as made by the consoles of stores.
        """

        def ask() -> dict[str, Remote]:
            files = file_system(scheme_of(folder))
            root = _asked_for(folder).rstrip("/")
            found: Mapping[str, Any] = files.find(root, detail=True)
            return {
                name.removeprefix(f"{root}/"): _remote(each)
                for name, each in found.items()
                if name.startswith(f"{root}/") and not name.endswith("/") and each.get("type") != "directory"
            }

        try:
            return self._retried(ask, folder)
        except FileNotFoundError as error:
            if type(error.__cause__).__name__ in _NO_BUCKET_ERRORS:
                raise StorageError(f"{folder}: {reason_of(error)}") from error
            if scheme_of(folder) == "gs":
                self.check_bucket(folder)
            return {}

    def check_bucket(self, address: str) -> None:
        """Raise StorageError if there is no such bucket or, on the hub, no such repository.

        Web servers do not tell, nor do other stores tell every user.
        """
        scheme = scheme_of(address)
        if scheme in READ_ONLY:
            return

        def ask() -> None:
            files, path = file_system(scheme), _asked_for(address)
            bucket = path.partition("/")[0]
            if scheme == "hf":
                files.place(path)
            elif scheme == "gs":
                files.call("GET", f"b/{bucket}/o", maxResults=1)  # its `info` takes an empty bucket for a missing one
            else:
                files.info(bucket)

        try:
            self._retried(ask, address)
        except FileNotFoundError as error:
            raise StorageError(f"{address}: {reason_of(error) if scheme == 'hf' else NO_BUCKET}") from error
        except StorageError as error:
            if not is_refusal(error.__cause__):
                raise

    def fetch(self, address: str, path: Path) -> Remote:
        """Fetch an address into a file; return what the store reports on it. Raise also DiskFullError."""
        try:
            return self._fetch(address, path)
        except OSError as error:
            if error.errno not in DISK_IS_FULL:
                raise
            reason = f"{without_user(address)}: cannot be fetched to {path.parent} ({os.strerror(error.errno)})"
            raise DiskFullError(f"{reason}; free space there, or have XDG_CACHE_HOME name a larger disk") from error

    def _fetch(self, address: str, path: Path) -> Remote:
        if scheme_of(address) in READ_ONLY:
            return self._retried(partial(_fetch_at_once, address, path), address)
        while True:
            remote = self.about(address)
            path.unlink(missing_ok=True)
            try:
                self._fetch_blocks(address, path, remote)
            except _ReplacedError:
                continue
            return remote

    def send(self, path: Path, address: str) -> Remote:
        """Send a file to an address, where it appears at once; return what the store reports on it."""

        def put() -> Remote:
            files = file_system(scheme_of(address))
            files.put_file(str(path), _asked_for(address))
            remote = _remote(files.info(_asked_for(address)))
            if remote.size != path.stat().st_size:
                raise TruncatedError(f"{remote.size} bytes arrived of {path.stat().st_size}")
            return remote

        try:
            return self._retried(put, address)
        except FileNotFoundError as error:
            raise StorageError(f"{address}: {reason_of(error, NO_BUCKET)}") from error

    def remove(self, address: str) -> None:
        """Remove a file, if it exists."""

        def remove() -> None:
            files = file_system(scheme_of(address))
            files.rm_file(_asked_for(address))

        try:
            self._retried(remove, address)
        except FileNotFoundError:
            return

    def _fetch_blocks(self, address: str, path: Path, remote: Remote) -> None:
        with path.open("wb") as file:
            for start in range(0, remote.size, BLOCK):
                end = min(start + BLOCK, remote.size)
                file.write(self._retried(partial(_block, address, start, end, remote), address))
        if remote.size > BLOCK and self.about(address).version != remote.version:
            raise _ReplacedError

    def _retried(self, action: Callable[[], Result], address: str) -> Result:
        scheme, named = scheme_of(address), without_user(address)
        try:
            return retried(action, named, self.retry_seconds)
        except StorageError as error:
            if scheme in READ_ONLY or not is_refusal(error.__cause__):
                raise
        forget(scheme)  # the credentials may have expired, and new ones may exist by now
        try:
            return retried(action, named, self.retry_seconds)
        except StorageError as error:
            if not is_refusal(error.__cause__):
                raise
            advice = f"are the credentials for {scheme}:// right, and not expired?"
            if lacks_credentials(error.__cause__):
                advice = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to ~/.aws/credentials"
            raise StoreRefusalError(f"{error}; {advice}") from error


class _ReplacedError(Exception):
    """The file at an address was replaced while it was fetched."""


def _told_of(address: str) -> Remote:
    found = file_system(scheme_of(address)).info(_asked_for(address))
    if found.get("type") == "directory":
        raise FileNotFoundError(address)
    return _remote(found)


def _asked_for(address: str) -> str:
    """Return an address in fsspec's form; # is escaped for web servers, as it is a part of a file's name."""
    if scheme_of(address) in READ_ONLY:
        return address.replace("#", "%23")
    return str(file_system(scheme_of(address))._strip_protocol(address))


def _block(address: str, start: int, end: int, remote: Remote) -> bytes:
    """Return bytes of a file. Raise TruncatedError if their number is wrong, _ReplacedError if the file has changed.

    At the end, one more byte is requested: it exists if the file has grown meanwhile.
    """
    beyond = int(end == remote.size)
    block: bytes = file_system(scheme_of(address)).cat_file(_asked_for(address), start=start, end=end + beyond)
    if len(block) != end - start:
        if _told_of(address).version != remote.version:
            raise _ReplacedError
        raise TruncatedError(f"{len(block)} bytes arrived of {end - start}")
    return block


def _fetch_at_once(address: str, path: Path) -> Remote:
    remote = _told_of(address)
    path.unlink(missing_ok=True)
    file_system(scheme_of(address)).get_file(_asked_for(address), str(path))
    if remote.size >= 0 and path.stat().st_size != remote.size:
        raise TruncatedError(f"{path.stat().st_size} bytes arrived of {remote.size}")
    return remote


def _remote(found: Mapping[str, Any]) -> Remote:
    size = found.get("size")
    modified = next((found[key] for key in ("LastModified", "mtime", "updated", "last_modified") if found.get(key)), "")
    tags = ("ETag", "etag", "blob_id", "Last-Modified")
    version = next((found[key] for key in tags if found.get(key)), "") or modified or size
    return Remote(-1 if size is None else int(size), str(version).strip('"'), _nanoseconds(modified, str(version)))


def _nanoseconds(modified: object, version: str) -> int:
    if isinstance(modified, str) and modified:
        try:
            modified = datetime.fromisoformat(modified.replace("Z", "+00:00"))
        except ValueError:
            modified = ""
    if isinstance(modified, datetime):
        return int(modified.timestamp()) * 1_000_000_000
    if isinstance(modified, int | float) and not isinstance(modified, bool):
        return int(modified) * 1_000_000_000
    return zlib.crc32(version.encode()) * 1_000_000_000
