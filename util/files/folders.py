"""The folders and files below a folder."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

log = logging.getLogger(__name__)


def walk(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield `folder` and each folder below it, with the names of its files, in order, without hidden ones.

    Links to folders are followed, unless they lead to a folder that they are in, by other links or not. A folder that
    cannot be read, as a disk's `lost+found`, is passed over with a warning.
    """
    for path, folders, files in os.walk(folder, onerror=_warn, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and not _leads_up(Path(path, name)))
        yield path, sorted(name for name in files if not name.startswith("."))


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and below it, as `walk` does."""
    return (Path(path, name) for path, names in walk(folder) for name in names)


def files_like(folder: Path, pattern: str) -> list[Path]:
    """Return the paths below a folder that match a pattern such as "etc/*.txt", in order, without hidden ones.

    macOS puts a hidden file, `._a.txt`, that is no text beside each `a.txt` on the disks of other systems.
    """
    return sorted(path for path in folder.glob(pattern) if not path.name.startswith("."))


def _warn(error: OSError) -> None:
    log.warning("%s: cannot be read (%s), and nothing in it is taken", error.filename, error.strerror)


def _leads_up(folder: Path) -> bool:
    if not folder.is_symlink():
        return False
    target = folder.resolve()
    return any(parent.resolve().is_relative_to(target) for parent in folder.parents)
