"""Opens files on this machine, inside tar shards, and at addresses, which are fetched first if necessary."""

from __future__ import annotations

import errno
import os
import stat
from io import FileIO
from pathlib import Path

from ..shards.members import member_of, open_member
from ..storage.copies import open_copy


def opened(path: Path) -> FileIO:
    """Return a regular file, open for reading; for a member of a shard, a copy in memory.

    Raise OSError with a reason of one line, ValueError for an impossible name, or StorageError if the store fails
    otherwise than because there is no such file.
    """
    try:
        return _regular(path)
    except (FileNotFoundError, NotADirectoryError):
        if (found := member_of(path)) is not None:
            return open_member(*found)
        if (copy := open_copy(path)) is None:
            raise
        return copy


def _regular(path: Path) -> FileIO:
    if not stat.S_ISREG(path.stat().st_mode):  # opening a named pipe would wait forever
        raise OSError(errno.EINVAL, "not a file")
    return FileIO(os.fspath(path), "rb")
