"""Opens files on this machine, inside tar shards, and at addresses, which are fetched first if necessary."""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from functools import partial
from io import FileIO
from pathlib import Path

from ..shards.members import member_of, open_member
from ..storage.copies import open_copy

_OTHER_FORM = "No such file, but one with this name in Unicode's other form (NFC, NFD); rename it, or change the list"


def opened(path: Path) -> FileIO:
    """Return a regular file, open for reading; for a member of a shard, a copy in memory.

    Raise OSError with the path and a reason of one line, ValueError for an impossible name, or StorageError if the
    store fails otherwise than because there is no such file.
    """
    try:
        return _regular(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        if (found := member_of(path)) is not None:
            return open_member(*found)
        if (copy := open_copy(path)) is not None:
            return copy
        if isinstance(error, NotADirectoryError):
            raise
        raise not_found(path) from None


def not_found(path: Path) -> FileNotFoundError:
    """Return the error of a path without a file; it says whether there is one whose name looks the same."""
    forms = [partial(unicodedata.normalize, form) for form in ("NFC", "NFD")]
    same = (Path(name) for form in forms for name in (path.parent / form(path.name), form(str(path))))
    reason = _OTHER_FORM if any(each.exists() for each in same) else os.strerror(errno.ENOENT)
    return FileNotFoundError(errno.ENOENT, reason, str(path))


def _regular(path: Path) -> FileIO:
    if not stat.S_ISREG(path.stat().st_mode):  # opening a named pipe would wait forever
        raise OSError(errno.EINVAL, "not a file", str(path))
    return FileIO(os.fspath(path), "rb")
