"""Corpora in object stores and on the Hugging Face hub: all files below an address, fetched into a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from ..errors import ImportingError
from ..parallel import ordered_map
from ..progress import Progress
from ..storage.addresses import READ_ONLY, scheme_of, without_user
from ..storage.copies import Settings, stamp
from ..storage.file_systems import check_available
from ..storage.store import Remote

_AT_ONCE = 8
"""Files that are fetched at once: for small ones, most of the time goes by while a store answers."""


def fetch_folder(address: str, folder: Path) -> Path:
    """Fetch all files below an address into a folder, except hidden ones, and return the folder.

    Files that are there and have not changed are not fetched again. Those that are no longer at the address are
    removed. Raise ImportingError, StorageError or OSError.
    """
    named = f"--from={without_user(address)}"
    if scheme_of(address) in READ_ONLY:
        raise ImportingError(f"{named}: the files of a web server cannot be listed; name archives with --url")
    check_available(address)
    store = Settings.read().store
    files = {name: remote for name, remote in store.list(address).items() if _is_visible(name)}
    if not files:
        raise ImportingError(f"{named}: there are no files")
    _remove_others(folder, files)
    missing = [name for name, remote in files.items() if not _is_here(folder / name, remote)]

    def fetch(name: str) -> None:
        path = folder / name
        part = path.with_name(f".{path.name}.part")
        path.parent.mkdir(parents=True, exist_ok=True)
        stamp(part, store.fetch(f"{address.rstrip('/')}/{name}", part))
        part.replace(path)

    with Progress(f"Fetching {address}", len(missing), unit="file") as progress:
        for _ in ordered_map(fetch, missing, _AT_ONCE, ahead=_AT_ONCE):
            progress.advance()
    return folder


def _is_visible(name: str) -> bool:
    return not name.startswith("/") and not any(part.startswith(".") for part in PurePosixPath(name).parts)


def _is_here(path: Path, remote: Remote) -> bool:
    try:
        return remote.is_at(path)
    except OSError:
        return False


def _remove_others(folder: Path, files: Mapping[str, Remote]) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in files:
            path.unlink()
