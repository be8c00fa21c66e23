"""Local copies of files at addresses: their paths, fetching them, and removing them when space is needed."""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from io import FileIO
from os import PathLike
from pathlib import Path
from urllib.parse import quote

from ..errors import StorageError
from ..files.user_folders import cache_path
from ..files.whole_files import write_whole
from .addresses import READ_ONLY, address_of, scheme_of, with_access, without_access, without_file_scheme, without_user
from .store import DiskFullError, Remote, Store

log = logging.getLogger(__name__)

FREED_SHARE = 0.1
"""The share of the limit that is freed at once, so that not every fetch has to scan the copies."""

GIVEN_UP_SECONDS = 3600.0
"""A partial copy that has not grown for this time counts as abandoned."""

LONGEST_NAME = 220
"""The most bytes of each part of an address: file systems allow 255, and a file has a longer name during fetching."""

_QUOTED = frozenset("%?#")
"""Characters of a relative name that have a meaning in web addresses."""

_STORAGE = "storage"
FILES, INPUTS, FOLDERS = "files", "inputs", "folders"
"""Kinds of copies: those that can be removed and fetched again, those that must stay for a run, and outputs."""


@dataclass(frozen=True)
class Settings:
    """How long to retry a store that fails, in seconds, and the most bytes of fetched files (0: no limit)."""

    retry_seconds: float = 300.0
    cache_bytes: int = 50 * 10**9

    @staticmethod
    def read() -> Settings:
        """Return the settings of the last run that set some; the defaults if they cannot be read."""
        try:
            return Settings(**json.loads(_settings_file().read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return Settings()

    def write(self) -> None:
        """Make all processes of this user use these settings. Raise OSError."""
        _settings_file().parent.mkdir(parents=True, exist_ok=True)
        write_whole(_settings_file(), json.dumps(asdict(self)).encode())

    @property
    def store(self) -> Store:
        """The store, with the retries of these settings."""
        return Store(self.retry_seconds)


def root() -> Path:
    """Return the folder of all copies; it should be on a single file system."""
    return Path(cache_path(_STORAGE))


def copy_of(address: str, kind: str = FILES) -> Path:
    """Return the path for the copy of an address; only those of the kind FILES are removed when space is needed.

    Raise StorageError for an address that cannot have a copy.
    """
    scheme, _, rest = without_access(address).partition("://")
    parts = rest.split("/")
    if ".." in parts or not parts[0]:
        raise StorageError(f"{without_user(address)}: is not an address of a file or folder")
    if any(len(os.fsencode(part)) > LONGEST_NAME for part in parts):
        longer = f"a name in it is longer than the {LONGEST_NAME} bytes of a copy here; give a shorter one"
        raise StorageError(f"{without_user(address)}: {longer}")
    return root().joinpath(kind, scheme, *parts)


def original_of(path: str | PathLike[str]) -> str | None:
    """Return the address of the copy at a path, whether it exists or not; None for any other path."""
    normal, folder = os.path.normpath(path), f"{cache_path(_STORAGE)}{os.sep}"
    if not normal.startswith(folder):
        return None
    kind, scheme, rest = (*normal.removeprefix(folder).split(os.sep, 2), "", "")[:3]
    return with_access(f"{scheme}://{rest}") if kind in (FILES, INPUTS, FOLDERS) and rest else None


def named_for_all(path: str | PathLike[str]) -> str:
    """Return the address of a copy, or that a path is, the same everywhere and without a user; else the path."""
    address = original_of(path) or address_of(path)
    return os.fspath(path) if address is None else without_user(address)


def local_path(path: str | PathLike[str]) -> Path:
    """Return the path of the copy if a path is an address, and any other path unchanged."""
    address = address_of(path)
    return Path(path) if address is None else copy_of(address)


def joined(folder: Path, name: str) -> str:
    """Return the path of a file that a list in a folder names, relative to the folder or by its address.

    Folders may be separated as on Windows, if only that gives an existing file. A relative name is no address:
    characters with a meaning in web addresses are a part of the file's name.
    """
    if "://" in name:
        return str(local_path(without_file_scheme(name)))
    if not _QUOTED.isdisjoint(name) and scheme_of(original_of(folder / "_") or "") in READ_ONLY:
        name = "".join(quote(each) if each in _QUOTED else each for each in name)
    path = folder / name
    if "\\" in name and not path.exists() and (other := folder / name.replace("\\", "/")).exists():
        path = other
    return str(path)


def fetch_missing(path: Path) -> None:
    """Fetch a copy if it is missing; do nothing for any other path.

    Raise StorageError, or FileNotFoundError if there is nothing at its address.
    """
    if original_of(path) is not None and not path.exists() and (fetched := _fetch(path)) is not None:
        fetched.close()


def open_copy(path: Path) -> FileIO | None:
    """Return a copy, open for reading, and fetch it first if it is missing; None for any other path.

    Others may remove the copy meanwhile to free space. Raise OSError or StorageError.
    """
    if original_of(path) is None:
        return None
    while True:
        try:
            return FileIO(os.fspath(path), "rb")
        except FileNotFoundError:
            if (fetched := _fetch(path)) is not None:
                return fetched


def refresh(path: Path) -> Remote | None:
    """Return the file at the address of a copy, and remove the copy if it is older; None for any other path.

    Raise StorageError, also if there is no such file.
    """
    address = original_of(path)
    if address is None:
        return None
    try:
        remote = Settings.read().store.about(address)
    except FileNotFoundError:
        raise StorageError(f"{without_user(address)}: there is no such file") from None
    with suppress(OSError):
        if not remote.is_at(path):
            path.unlink()
    return remote


def mark_used(path: Path) -> None:
    """Mark a copy as used now, so that others are removed before it."""
    with suppress(OSError):
        os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))


def stamp(path: Path, remote: Remote) -> None:
    """Give a copy the modification time of the file at its address."""
    os.utime(path, ns=(time.time_ns(), remote.modified_ns))


def _fetch(path: Path) -> FileIO | None:
    """Fetch a copy and return it, open for reading; None if another thread or process was faster."""
    address, settings = original_of(path), Settings.read()
    assert address is not None
    file = None
    while file is None:
        with _sole_fetcher(path) as part:
            if path.exists():
                return None
            remote = _written(address, part, settings)
            file = _put_in_place(part, path, remote)
    size = os.fstat(file.fileno()).st_size
    log.debug("Fetched %s, %.1f MB", without_user(address), size / 1e6)
    if settings.cache_bytes and path.is_relative_to(root() / FILES):
        with suppress(OSError):  # then all copies are counted again the next time
            _make_room(path, size, settings.cache_bytes)
    return file


def _written(address: str, part: Path, settings: Settings) -> Remote:
    """Fetch an address into a file; while the disk is full, remove the least recently used copies."""
    while True:
        part.parent.mkdir(parents=True, exist_ok=True)
        try:
            return settings.store.fetch(address, part)
        except DiskFullError:
            part.unlink(missing_ok=True)
            if not settings.cache_bytes or not _free_some():
                raise
            log.warning("The disk of %s is full: fetched files that were not used for longest are removed", root())
        except FileNotFoundError as error:
            if part.parent.exists():  # else it was removed meanwhile
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), without_user(address)) from error


def _put_in_place(part: Path, path: Path, remote: Remote) -> FileIO | None:
    """Move a fetched file to the copy's path, and return it, open; None if it was removed meanwhile."""
    with suppress(FileNotFoundError):
        stamp(part, remote)
        file = FileIO(os.fspath(part), "rb")
        try:
            part.replace(path)
            return file
        except BaseException:
            file.close()
            raise
    return None


@contextmanager
def _sole_fetcher(path: Path) -> Iterator[Path]:
    """Yield the file to fetch into, while other threads and processes that want the same copy wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock_file = path.with_name(f".{path.name}.lock")
    with lock_file.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        part = path.with_name(f".{path.name}.part-{os.getpid()}-{threading.get_ident()}")
        try:
            yield part
        finally:
            part.unlink(missing_ok=True)
            lock_file.unlink(missing_ok=True)


def _make_room(newest: Path, size: int, limit: int) -> None:
    """Count a fetched copy of `size` bytes; if all take more than `limit`, remove the least recently used."""
    with (root() / "size").open("a+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        told = file.read()
        total = int(told) + size if told.isdigit() else _total()
        if total > limit:
            total = _free(newest, limit)
        file.truncate(0)
        file.write(str(total))


def _free_some() -> bool:
    """Remove half of all copies, the least recently used; return whether there were any."""
    before = _total()
    if not before:
        return False
    after = _free(None, before // 2)
    (root() / "size").unlink(missing_ok=True)  # then they are counted again
    return after < before


def _total() -> int:
    return sum(size for _, size, _ in _copies())


def _free(newest: Path | None, limit: int) -> int:
    """Remove the least recently used copies; return the bytes of the remaining ones."""
    copies = sorted(_copies())
    total = sum(size for _, size, _ in copies)
    for _, size, path in copies:
        if total <= limit * (1 - FREED_SHARE):
            break
        if path != newest:
            path.unlink(missing_ok=True)
            total -= size
    return total


def _copies() -> Iterator[tuple[int, int, Path]]:
    """Yield the last use, the bytes and the path of each copy, and of each abandoned partial copy."""
    now = time.time()
    for folder, _, names in os.walk(root() / FILES):
        for name in names:
            with suppress(OSError):
                path = Path(folder, name)
                status = path.stat()
                if not name.startswith(".") or now - status.st_mtime > GIVEN_UP_SECONDS:
                    yield status.st_atime_ns, status.st_size, path


def _settings_file() -> Path:
    return root() / "settings.json"
